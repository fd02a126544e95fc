package engine_test

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/sqlite"
)

// countedIn are shares that are counted in a resource.
func countedIn(unit string) fairlead.Shares {
	s := fairlead.DefaultShares()
	s.Hash = unit
	s.Sched.Unit, s.Sched.HalfLife = unit, 0
	return s
}

// tracker is a node with slots for maps and reduces.
func tracker(t *testing.T, l *engine.Loop, has ...queue.Ref) (*engine.Member, handed) {
	t.Helper()
	capacity, err := engine.AgentCapacity(fairlead.Amounts{"map": 2, "reduce": 2})
	if err != nil {
		t.Fatal(err)
	}
	leases := make(handed, 100)
	m, err := l.Join(t.Context(), "tt1", capacity, engine.NodeInfo{}, leases, has)
	if err != nil {
		t.Fatal(err)
	}
	return m, leases
}

// TestEachTaskTakesOfTheUnit: a task that does not name the unit takes one of it, and one that asks
// for none is refused.
func TestEachTaskTakesOfTheUnit(t *testing.T) {
	loop, err := newLoop(t.Context(), memory.New("map"), engine.LoopOptions{Shares: countedIn("map")})
	if err != nil {
		t.Fatal(err)
	}
	_, leases := tracker(t, loop)
	none := fairlead.Job{User: "ann", Argv: []string{"true"}, Request: fairlead.Amounts{"map": 0, "reduce": 1}}
	const want = "each task takes at least one map"
	if _, err := loop.Client().Submit(t.Context(), none); !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("a task that asks for none of the unit: %v", err)
	}
	if _, _, err := forecast.New(loop).Try(t.Context(), none, forecast.TryOptions{}); !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("one that is only tried: %v", err)
	}
	one := fairlead.Job{User: "ann", Argv: []string{"true"}, Request: fairlead.Amounts{"reduce": 1}}
	if _, err := loop.Client().Submit(t.Context(), one, one, one); err != nil {
		t.Fatal(err)
	}
	if err := loop.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, free, unit := loop.Capacity(); len(leases) != 2 || free["map"] != 0 || unit != "map" {
		t.Errorf("%d tasks that take one reduce each run, and %d %s are free", len(leases), free["map"], unit)
	}
}

// TestAnotherUnitIsForTheNextStart: shares in another unit are refused while the loop runs, and
// nothing of them takes effect. A new loop counts running and waiting tasks in the new unit,
// as the store does.
func TestAnotherUnitIsForTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "jobs.db")
		store, err := sqlite.Open(t.Context(), path, sqlite.Options{Unit: "map", Grace: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		loop, err := newLoop(t.Context(), store, engine.LoopOptions{Shares: countedIn("map")})
		if err != nil {
			t.Fatal(err)
		}
		_, leases := tracker(t, loop)
		job := fairlead.Job{User: "ann", Argv: []string{"true"}, Request: fairlead.Amounts{"map": 1, "reduce": 2}}
		if _, err := loop.Client().Submit(t.Context(), job, job); err != nil {
			t.Fatal(err)
		}
		if err := loop.Turn(t.Context()); err != nil || len(leases) != 1 {
			t.Fatal(len(leases), err)
		}
		next := countedIn("reduce")
		next.Sched.HalfLife = time.Hour
		const want = "map -> reduce takes effect at the next start of the server"
		if err := loop.Configure(t.Context(), next); !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("another unit: %v", err)
		}
		if _, err := forecast.New(loop).Forecast(t.Context(), next); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the forecast with another unit: %v", err)
		}
		if _, _, unit := loop.Capacity(); unit != "map" || loop.HalfLife() != 0 {
			t.Errorf("after shares that were refused the unit is %s, and the half-life %v", unit, loop.HalfLife())
		}
		run := <-leases
		time.Sleep(time.Minute / 2)
		store.Close()

		if store, err = sqlite.Open(t.Context(), path, sqlite.Options{Unit: "reduce", Grace: time.Minute}); err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if loop, err = newLoop(t.Context(), store, engine.LoopOptions{Shares: countedIn("reduce")}); err != nil {
			t.Fatal(err)
		}
		m, leases := tracker(t, loop, run.Ref)
		if err := loop.Turn(t.Context()); err != nil || len(leases) != 0 {
			t.Fatalf("%d tasks began beside one that holds all reduce slots (%v)", len(leases), err)
		}
		time.Sleep(time.Minute / 2)
		if v, err := m.Finish(t.Context(), []queue.Result{{Ref: run.Ref, Outcome: fairlead.Outcome{State: fairlead.Succeeded}}}); err != nil || v[0].Err != nil {
			t.Fatal(v, err)
		}
		if err := loop.Turn(t.Context()); err != nil || len(leases) != 1 {
			t.Fatalf("%d tasks began in the room that the first has left (%v)", len(leases), err)
		}
		if v, err := m.Finish(t.Context(), []queue.Result{{Ref: (<-leases).Ref, Outcome: fairlead.Outcome{State: fairlead.Succeeded}}}); err != nil || v[0].Err != nil {
			t.Fatal(v, err)
		}
		kept, err := store.Usage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range views.Pools(t.Context(), loop) {
			if want := 120.0; p.Path == "ann" && (math.Abs(p.Used-want) > 1e-6 || math.Abs(kept.Pools["ann"].Used-want) > 1e-6) {
				t.Errorf("two reduce slots for a minute are %v slot-seconds for the loop, and %v for the store", p.Used, kept.Pools["ann"].Used)
			}
		}
		if r, err := loop.Recount(t.Context()); err != nil || len(r.Wrong) > 0 {
			t.Errorf("sums are wrong: %v (%v)", r.Wrong, err)
		}
	})
}
