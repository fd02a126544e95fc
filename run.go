package fairlead

import (
	"context"
	"errors"
	"sync"
)

// Run runs jobs until ctx ends. Then it takes no more tasks, and gives the running handlers the grace period. After
// that, it cancels the contexts of the handlers that still run, and returns when these have returned; their tasks
// will run again. If the store does not answer then, Run waits at most a few seconds. Tasks whose result it could not
// report run again. An App runs only once: Run after Run or [App.Start] is an error.
func (a *App) Run(ctx context.Context) error {
	l, err := a.begin(ctx, "Run")
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, l.stop)()
	<-l.ended
	return l.err
}

// Start begins to run jobs, and returns when this process takes tasks. It runs them until [App.Stop]: ctx limits only
// the beginning, and handlers inherit its values. If ctx ends before this process takes tasks, or something fails,
// nothing runs, and a new attempt needs a new App. In that case Start returns when the store has answered the call in
// progress.
func (a *App) Start(ctx context.Context) error {
	l, err := a.begin(ctx, "Start")
	if err != nil {
		return err
	}
	select {
	case <-l.joined:
		return nil
	case <-l.ended:
		return l.err
	case <-ctx.Done():
		l.stop()
		<-l.ended
		return errors.Join(ctx.Err(), l.err)
	}
}

// Stop ends the App after [App.Start], just as the end of its context ends [App.Run], and returns any error. If ctx
// ends first, Stop returns its error, and the handlers continue for the rest of the grace period. Stop may be called
// again.
func (a *App) Stop(ctx context.Context) error {
	a.mu.Lock()
	l := a.life
	a.mu.Unlock()
	if l == nil {
		return errors.New("fairlead: Stop before Start")
	}
	l.stop()
	select {
	case <-l.ended:
		return l.err
	default:
	}
	select {
	case <-l.ended:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin starts to run jobs in the background.
func (a *App) begin(ctx context.Context, by string) (*life, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.life != nil {
		return nil, errors.New("fairlead: " + by + " after Run or Start: an App runs once")
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &life{stop: stop, joined: make(chan struct{}), ended: make(chan struct{})}
	a.life = l
	go func() {
		defer close(l.ended)
		defer stop()
		l.err = a.work(work, func() { close(l.joined) })
	}()
	return l, nil
}

// work runs jobs until ctx ends, and calls joined when it takes tasks.
func (a *App) work(ctx context.Context, joined func()) error {
	// The engine continues until the handlers have ended.
	deciding, stop := context.WithCancel(context.WithoutCancel(ctx))
	var both sync.WaitGroup
	defer both.Wait()
	defer stop()
	ticking, stopTicking := context.WithCancel(ctx)
	defer stopTicking()
	ended := make(chan error, 1)
	both.Go(func() { ended <- a.loop.Run(deciding) })
	for _, c := range a.crons {
		both.Go(func() { a.tick(ticking, c) })
	}
	if a.options.Retention > 0 {
		both.Go(func() { a.forget(deciding) })
	}
	if len(a.handlers) == 0 {
		joined()
		<-ctx.Done()
		return nil
	}
	err := a.loop.Work(ctx, WorkOptions{
		Name: a.options.Name, Slots: a.options.Slots, Handlers: a.handlers, Middleware: a.around, Grace: a.options.Grace,
		Joined: joined, Ended: a.count,
	})
	stop()
	return errors.Join(err, <-ended)
}
