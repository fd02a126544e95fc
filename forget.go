package fairlead

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// forgetEvery is the interval at which the App removes jobs that ended too long ago.
const forgetEvery = time.Hour

// forget removes jobs that ended too long ago, until ctx ends.
func (a *App) forget(ctx context.Context) {
	for {
		n, err := a.store.(queue.Forgetter).Forget(ctx, time.Now().Add(-a.options.Retention))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			a.options.Logger.Error("old jobs could not be removed", "error", err)
		case n > 0:
			a.options.Logger.Info("removed old jobs", "jobs", n)
		}
		if !wait.For(ctx, forgetEvery) {
			return
		}
	}
}
