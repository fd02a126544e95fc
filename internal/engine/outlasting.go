package engine

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// lastWords is how long a worker or an engine that ends waits for the store.
const lastWords = 2 * time.Second

// outlasting returns a context that ends some time after ctx, so that final results can still reach the store.
func outlasting(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		wait.For(later, d)
		end()
	})
	return later, func() { stop(); end() }
}
