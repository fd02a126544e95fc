package fairlead

import (
	"context"
	"time"
)

// Measure notes what is in force, as every turn of the loop does if it may.
func (l *Loop) Measure() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.measure(time.Now(), l.core.Entitlements())
}

// Rebuild makes the core anew, as if the loop had fallen behind the changes of the store.
func (l *Loop) Rebuild(ctx context.Context) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	return l.rebuild(ctx)
}
