package fairlead

import (
	"context"
	"errors"
	"sync"
)

// Run runs jobs until ctx ends. Then it takes nothing new, waits for the running handlers for
// the grace period, ends the contexts of the rest, which will run again, and returns when they
// have returned. For a store that does not answer then it waits some seconds at most: what it
// could not be told runs again. An App runs once: Run after Run or [App.Start] is an error.
func (a *App) Run(ctx context.Context) error {
	l, err := a.begin(ctx, "Run")
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, l.stop)()
	<-l.ended
	return l.err
}

// Start begins to run jobs, and returns when this process takes tasks. It runs them until [App.Stop]: ctx bounds the
// beginning alone, and handlers have its values. If it ends before, or something fails, nothing runs,
// and a new App is needed to try again.
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

// Stop ends what [App.Start] has begun, as the end of its context ends [App.Run], and returns what went wrong. If ctx
// ends before, Stop returns its error, and the handlers go on for the rest of the grace period. Stop may be called
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

// begin runs jobs beside the caller.
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
	// The loop goes on until the handlers have ended.
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
