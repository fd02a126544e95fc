package engine_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/store/sqlite"
)

// TestNodesMayComeBackAfterARestart: jobs that no known node could run are refused, but not while nodes that were
// there before a restart may come back, whatever their jobs have become meanwhile.
func TestNodesMayComeBackAfterARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	live := func(f func(l *engine.Loop, refused func() bool)) {
		t.Helper()
		store, err := sqlite.Open(t.Context(), file, sqlite.Options{Unit: "cpu"})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		lived(t, store, func(ctx context.Context, l *engine.Loop) {
			has := fairlead.Amounts{"cpu": 1, "handler.work": 1 << 40}
			if _, err := l.Join(ctx, "n1", has, engine.NodeInfo{}, &deaf{}, nil); err != nil {
				t.Fatal(err)
			}
			f(l, func() bool {
				large := fairlead.Job{User: "ann", Kind: "work", Request: fairlead.Amounts{"cpu": 8}}
				return l.Intake.Unsatisfiable(&large) != nil
			})
		})
	}
	live(func(l *engine.Loop, refused func() bool) {
		if !refused() {
			t.Error("a new server takes what its only node could never run")
		}
		enginetest.Submit(t, l, fairlead.Job{User: "ann"})
	})
	live(func(l *engine.Loop, refused func() bool) {
		if refused() {
			t.Error("refused though other nodes may come back")
		}
		l.Made = l.Made.Add(-2 * time.Minute)
		if !refused() {
			t.Error("taken though all nodes had time to come back")
		}
	})
}
