package queue

import (
	"context"
	"time"
)

// Forgetter is a store that can remove ended jobs.
type Forgetter interface {
	// Forget removes the jobs that ended before an instant, with everything kept about them, and returns their number.
	// Several servers may call it; one of them does the work.
	Forget(ctx context.Context, before time.Time) (int, error)
}
