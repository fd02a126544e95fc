package wait_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// waited calls f and returns the time for which it waited, and its answer.
func waited(f func() bool) (time.Duration, bool) {
	began := time.Now()
	ok := f()
	return time.Since(began), ok
}

// TestForEndsAfterItsTimeOrWithTheContext checks that For returns after its time or when the context ends,
// whichever comes first.
func TestForEndsAfterItsTimeOrWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, c := range []struct {
			d, took time.Duration
			ok      bool
		}{
			{-time.Second, 0, true},
			{10 * time.Second, 10 * time.Second, true},
			{time.Hour, 50 * time.Second, false}, // the rest of the minute
			{time.Hour, 0, false},
			{0, 0, false}, // it has ended already
		} {
			took, ok := waited(func() bool { return wait.For(ctx, c.d) })
			if took != c.took || ok != c.ok {
				t.Errorf("For(%v) returned %v after %v; want %v after %v", c.d, ok, took, c.ok, c.took)
			}
		}
	})
}

// TestOnEndsWithASignal checks signals that come during a wait, and before it; several earlier signals count
// as one.
func TestOnEndsWithASignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signal := make(chan struct{}, 1)
		wait.Wake(signal)
		wait.Wake(signal)
		time.AfterFunc(3*time.Second, func() { wait.Wake(signal) })
		for _, want := range []time.Duration{0, 3 * time.Second, time.Minute} {
			took, ok := waited(func() bool { return wait.On(t.Context(), signal, time.Minute) })
			if took != want || !ok {
				t.Errorf("On returned %v after %v; want true after %v", ok, took, want)
			}
		}
	})
}
