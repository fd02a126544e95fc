package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/sqlite"
)

// deafStore cannot be told of a half-life while it is away, and keeps the half-life that it was told.
type deafStore struct {
	*sqlite.Store
	away bool
	half time.Duration
}

func (s *deafStore) SetHalfLife(ctx context.Context, half time.Duration) error {
	if s.away {
		return fmt.Errorf("%w: no route", queue.ErrUnavailable)
	}
	s.half = half
	return s.Store.SetHalfLife(ctx, half)
}

// TestConfigureWhileTheStoreIsAway: shares that are in force are not said to have failed, and the store is told of them
// when it is back.
func TestConfigureWhileTheStoreIsAway(t *testing.T) {
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	store := &deafStore{Store: file}
	loop, err := newLoop(t.Context(), store, engine.LoopOptions{Shares: rankedShares(1, time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	next := rankedShares(3, time.Hour)
	next.Sched.HalfLife = 7 * time.Hour
	store.away = true
	if err := loop.Configure(t.Context(), next); err != nil {
		t.Errorf("the shares are in force, and it says: %v", err)
	}
	store.away = false
	if got := weightOf(t, loop, "a"); got != 3 { // it asks the loop, which then catches up
		t.Errorf("the weight is %v", got)
	}
	if store.half != 7*time.Hour {
		t.Errorf("the store is back, and its half-life is %v", store.half)
	}
}
