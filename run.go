package fairlead

import (
	"context"
	"errors"
	"sync"
)

// Run runs jobs until ctx ends. Then it takes nothing new, waits for the running handlers for
// the grace period, ends the contexts of the rest, which will run again, and returns when they
// have returned. For a store that does not answer then it waits some seconds at most: what it
// could not be told runs again. Run is called once.
func (a *App) Run(ctx context.Context) error {
	a.mu.Lock()
	again := a.running
	a.running = true
	a.mu.Unlock()
	if again {
		return errors.New("fairlead: Run was called before")
	}
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
		<-ctx.Done()
		return nil
	}
	err := a.loop.Work(ctx, WorkOptions{Name: a.options.Name, Slots: a.options.Slots, Handlers: a.handlers, Middleware: a.around, Grace: a.options.Grace})
	stop()
	return errors.Join(err, <-ended)
}
