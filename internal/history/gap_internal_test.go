package history

import (
	"testing"
	"time"
	"unsafe"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/store/memory"
)

// set returns an instant as it is read after the wall clock was set forward by whole seconds: only its wall clock
// reading differs (package time, type Time).
func set(t time.Time, forward time.Duration) time.Time {
	wall := (*uint64)(unsafe.Pointer(&t))
	*wall += uint64(forward/time.Second) << 30
	return t
}

// TestClockIsSet: when the clock was set, or the machine slept, nothing is recorded for a time that did not exist or
// that no sample covers.
func TestClockIsSet(t *testing.T) {
	loop, err := engine.NewLoop(t.Context(), memory.New("cpu"), engine.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, c := range []struct {
		forward time.Duration
		steps   bool
	}{
		{0, true},
		{26 * 365 * 24 * time.Hour, false},
		{8 * time.Hour, false},
		{-time.Hour, false},
	} {
		second := set(began.Add(historyLook), c.forward)
		if second.Sub(began) != historyLook || second.Round(0).Sub(began.Round(0)) != historyLook+c.forward {
			t.Fatalf("the clock was not set: %v, %v", began, second)
		}
		rc := New(loop)
		rc.lookAtPools(began)
		rc.lookAtPools(second)
		if got := len(rc.steps) > 0; got != c.steps {
			t.Errorf("set by %v: steps are recorded: %t, want %t", c.forward, got, c.steps)
		}
	}
}
