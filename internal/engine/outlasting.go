package engine

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// lastWords is how long the store is waited for where a worker or a loop ends.
const lastWords = 2 * time.Second

// outlasting returns a context that ends some time after another one has, so that the store can be
// told how things ended.
func outlasting(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		wait.For(later, d)
		end()
	})
	return later, func() { stop(); end() }
}
