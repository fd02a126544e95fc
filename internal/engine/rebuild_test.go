package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// hookedStore calls functions while it is asked for something: onRates and onSet once.
type hookedStore struct {
	*memory.Store
	mu      sync.Mutex
	onRates func() error
	onSet   func()
	// onHalfLife is called whenever the store is told of a half-life.
	onHalfLife func(time.Duration) error
}

func (s *hookedStore) SetHalfLife(ctx context.Context, half time.Duration) error {
	if s.onHalfLife != nil {
		if err := s.onHalfLife(half); err != nil {
			return err
		}
	}
	return s.Store.SetHalfLife(ctx, half)
}

func (s *hookedStore) Rates(ctx context.Context) ([]sched.RateState, error) {
	s.mu.Lock()
	hook := s.onRates
	s.onRates = nil
	s.mu.Unlock()
	if hook != nil {
		if err := hook(); err != nil {
			return nil, err
		}
	}
	return s.Store.Rates(ctx)
}

func (s *hookedStore) Set(ctx context.Context, key, value string) error {
	err := s.Store.Set(ctx, key, value)
	s.mu.Lock()
	hook := s.onSet
	s.onSet = nil
	s.mu.Unlock()
	if hook != nil {
		hook()
	}
	return err
}

// rankedShares are shares whose jobs have priorities; with another maximum age all jobs have to
// be told to the core again.
func rankedShares(weight float64, maxAge time.Duration) fairlead.Shares {
	s := fairlead.DefaultShares()
	s.Hash = fmt.Sprint(weight, maxAge)
	s.Sched.Root = share.Pool{Policy: "multifactor", Pools: []share.Pool{{Name: "a", Weight: weight}, {Name: "b", Weight: 1}}}
	s.Sched.Multifactor = sched.DefaultMultifactor()
	s.Sched.Multifactor.MaxAge = maxAge
	return s
}

// weightOf returns the weight of a pool in the core.
func weightOf(t *testing.T, loop *engine.Loop, pool string) float64 {
	t.Helper()
	for _, p := range views.Pools(t.Context(), loop) {
		if p.Path == pool {
			return p.Weight
		}
	}
	t.Fatalf("there is no pool %s", pool)
	return 0
}

// TestConfigureDuringRebuild: shares that are put into force while the core is made anew are in
// force in the new core, and in the store.
func TestConfigureDuringRebuild(t *testing.T) {
	store := &hookedStore{Store: memory.New("cpu")}
	loop, err := newLoop(t.Context(), store, engine.LoopOptions{Shares: rankedShares(1, time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	next := rankedShares(5, 2*time.Hour)
	next.Sched.HalfLife = 3 * time.Hour
	store.onRates = func() error { return loop.Configure(t.Context(), next) }
	if err := loop.Configure(t.Context(), rankedShares(1, 2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if w := weightOf(t, loop, "a"); w != 5 {
		t.Errorf("a has the weight 5, and the core divides by %v", w)
	}
	accounts, err := store.Usage(t.Context())
	if err != nil || accounts.HalfLife != next.Sched.HalfLife || loop.HalfLife() != next.Sched.HalfLife {
		t.Errorf("the half-life is %v in the store and %v in the core, want %v (%v)", accounts.HalfLife, loop.HalfLife(), next.Sched.HalfLife, err)
	}
}

// TestConfigureAndAsk: shares are put into force while others ask. The race detector sees whether
// the two keep apart.
func TestConfigureAndAsk(t *testing.T) {
	loop, err := newLoop(t.Context(), memory.New("cpu"), engine.LoopOptions{Shares: rankedShares(1, time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	const times = 300
	var both sync.WaitGroup
	both.Go(func() {
		for i := range times {
			if err := loop.Configure(t.Context(), rankedShares(float64(i+1), time.Duration(i%2+1)*time.Hour)); err != nil {
				t.Error(err)
			}
		}
	})
	both.Go(func() {
		for range times {
			views.Pools(t.Context(), loop)
		}
	})
	both.Wait()
	if w := weightOf(t, loop, "a"); w != times {
		t.Errorf("a has the weight %d, and the core divides by %v", times, w)
	}
}

// TestDrainDuringRebuild: a node is drained while the core is made anew, and the new core gives the node another
// number. That node is drained, and no other.
func TestDrainDuringRebuild(t *testing.T) {
	store := &hookedStore{Store: memory.New("cpu")}
	loop, err := newLoop(t.Context(), store, engine.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const nodes = 20
	for i := range nodes {
		if _, err := loop.Join(t.Context(), fmt.Sprintf("n%02d", i), fairlead.Amounts{"cpu": 1}, engine.NodeInfo{}, &deaf{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range nodes {
		name := fmt.Sprintf("n%02d", i)
		store.onSet = func() {
			if err := loop.Rebuild(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if err := loop.Overrides.SetDrained(t.Context(), name, &engine.Drain{Reason: "repair"}, "", ""); err != nil {
			t.Fatal(err)
		}
		for _, n := range views.Nodes(loop) {
			if want := n.Name <= name; (n.State == "drain") != want {
				t.Errorf("%s was drained, and %s is %s", name, n.Name, n.State)
			}
		}
	}
}

// TestRebuildAgain: if the store fails while the loop tells the jobs to the core again, the loop tries again later.
func TestRebuildAgain(t *testing.T) {
	store := &hookedStore{Store: memory.New("cpu")}
	loop, err := newLoop(t.Context(), store, engine.LoopOptions{Shares: rankedShares(1, time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if err := loop.Configure(t.Context(), rankedShares(1, 2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	store.onRates = func() error { return errors.New("connection refused") }
	if _, err := loop.Pulse(t.Context()); err == nil {
		t.Fatal("the store was not asked")
	}
	asked := false
	store.onRates = func() error { asked = true; return nil }
	if _, err := loop.Pulse(t.Context()); err != nil || !asked {
		t.Errorf("the jobs were not told to the core again after an error of the store (%v)", err)
	}
}
