package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// slowRecord is a store in which an end that is recorded takes a second.
type slowRecord struct{ *memory.Store }

func (s slowRecord) Audit(ctx context.Context, entries []queue.AuditEntry, settings map[string]string) error {
	if entries[0].From == "scheduler" {
		time.Sleep(time.Second)
	}
	return s.Store.Audit(ctx, entries, settings)
}

// TestPauseWhileOneEnds: a pause that is made while the end of the one before is being recorded is in
// force, and is in the store.
func TestPauseWhileOneEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := slowRecord{memory.New("cpu")}
		o := engine.LoopOptions{Shares: rankedShares(1, time.Hour)}
		loop, stop := enginetest.StartOn(t, store, o, 1, nil, watch)
		defer stop()
		pause := func(d time.Duration) {
			t.Helper()
			if _, err := loop.Overrides.Pause(t.Context(), engine.Pause{Pool: "a", Until: time.Now().Add(d)}, "test"); err != nil {
				t.Fatal(err)
			}
		}
		pause(time.Minute)
		time.Sleep(time.Minute + time.Second/2) // its end is being recorded
		pause(time.Hour)
		time.Sleep(10 * time.Second)
		if all := loop.Overrides.Pauses(); len(all) != 1 {
			t.Errorf("in force: %v", all)
		}
		settings, err := store.Settings(t.Context())
		if err != nil || settings[poolnames.PauseSetting+"a"] == "" {
			t.Errorf("in the store: %v, %v", settings, err)
		}
	})
}
