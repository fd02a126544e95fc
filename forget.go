package fairlead

import (
	"context"
	"errors"
	"time"
)

// Forgetter is a store that can remove what has ended.
type Forgetter interface {
	// Forget removes the jobs that ended before an instant, with all that is kept about them, and
	// returns how many there were. Several servers may call it; one of them does the work.
	Forget(ctx context.Context, before time.Time) (int, error)
}

// forgetEvery is how often it is looked for what ended too long ago.
const forgetEvery = time.Hour

// checkRetention refuses what could not be done.
func checkRetention(store Store, kept time.Duration) error {
	if _, can := store.(Forgetter); !can && kept != 0 {
		return errors.New("fairlead: Options.Retention: the store keeps everything, or nothing; leave it out")
	}
	if kept < 0 {
		return errors.New("fairlead: Options.Retention: below 0")
	}
	return nil
}

// forget removes what ended long ago, until ctx ends.
func (a *App) forget(ctx context.Context) {
	for {
		n, err := a.loop.store.(Forgetter).Forget(ctx, time.Now().Add(-a.options.Retention))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			a.options.Logger.Error("old jobs could not be removed", "error", err)
		case n > 0:
			a.options.Logger.Info("removed old jobs", "jobs", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(forgetEvery):
		}
	}
}
