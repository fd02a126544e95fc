// Package wait lets a goroutine wait for a time, or for a signal of another goroutine, and give up when a
// context ends. It also logs outages of the other side. It imports the standard library only.
package wait

import (
	"context"
	"time"
)

// For waits for a duration. It returns false if ctx has ended.
func For(ctx context.Context, d time.Duration) bool { return On(ctx, nil, d) }

// On waits until a signal comes, but no longer than a duration. It returns false if ctx has ended.
func On(ctx context.Context, signal <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-signal:
	case <-t.C:
	}
	return ctx.Err() == nil
}

// Wake sends a signal unless one is pending, because the channel has room for one only. So several calls
// may wake the receiver once, and none of them waits for it.
func Wake(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}
