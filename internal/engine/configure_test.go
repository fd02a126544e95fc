package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// TestConfigureWhileTheStoreIsAway: shares that are in force are not said to have failed, and the store is told of them
// when it is back.
func TestConfigureWhileTheStoreIsAway(t *testing.T) {
	store := &hookedStore{Store: memory.New("cpu")}
	loop, err := newLoop(t.Context(), store, engine.LoopOptions{Shares: rankedShares(1, time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	next := rankedShares(3, time.Hour)
	next.Sched.HalfLife = 7 * time.Hour
	var half time.Duration
	told := func(h time.Duration) error { half = h; return nil }
	store.onHalfLife = func(time.Duration) error { return fmt.Errorf("%w: no route", queue.ErrUnavailable) }
	if err := loop.Configure(t.Context(), next); err != nil {
		t.Errorf("the shares are in force, and it says: %v", err)
	}
	store.onHalfLife = told
	if got := weightOf(t, loop, "a"); got != 3 { // it asks the loop, which then catches up
		t.Errorf("the weight is %v", got)
	}
	if half != 7*time.Hour {
		t.Errorf("the store is back, and its half-life is %v", half)
	}
}
