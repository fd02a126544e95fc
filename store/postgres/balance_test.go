package postgres_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// interruptedStore calls functions before and after each read of the state, as if another server acted then.
type interruptedStore struct {
	*postgres.Store
	first, then func()
}

func (s *interruptedStore) Snapshot(ctx context.Context, f func(queue.Change) error) (int64, error) {
	cursor, err := s.Store.Snapshot(ctx, f)
	s.then()
	return cursor, err
}

func (s *interruptedStore) Usage(ctx context.Context) (queue.Accounts, error) {
	s.first()
	a, err := s.Store.Usage(ctx)
	s.then()
	return a, err
}

func (s *interruptedStore) Balance(ctx context.Context, f func(queue.Change) error) (queue.Balance, error) {
	s.first()
	b, err := s.Store.Balance(ctx, f)
	s.then()
	return b, err
}

func (s *interruptedStore) Days(ctx context.Context) ([]queue.DayUsage, error) {
	d, err := s.Store.Days(ctx)
	s.then()
	return d, err
}

// elsewhere holds attempts of another server, which ends one of them at a time.
type elsewhere struct {
	*testing.T
	store *postgres.Store
	runs  []queue.Ref
}

func (e *elsewhere) begin(n int) {
	e.Helper()
	for _, id := range submit(e, e.store, n, 1, func(j *queue.Job) { j.Request = queue.Amounts{"cpu": 4} }) {
		grants, err := e.store.Lease(e.Context(), "n2", []queue.Want{{Job: id}}, time.Minute)
		if err != nil || grants[0].Lease == nil {
			e.Fatal(grants, err)
		}
		e.runs = append(e.runs, grants[0].Lease.Ref)
	}
}

func (e *elsewhere) end() {
	if len(e.runs) == 0 {
		return
	}
	v, err := e.store.Finish(context.Background(),
		[]queue.Result{{Ref: e.runs[0], Outcome: queue.Outcome{State: queue.Succeeded}}})
	if err != nil || v[0].Err != nil {
		e.Error(v, err)
	}
	e.runs = e.runs[1:]
}

// TestEndsElsewhereWhileRead: an attempt that another server ends while a loop reads the state is charged once,
// whatever the loop reads the state for.
func TestEndsElsewhereWhileRead(t *testing.T) {
	decay := allocation.Default()
	decay.Sched.Root.Policy, decay.Sched.HalfLife = "decay", 0
	fair := allocation.Default()
	fair.Sched.HalfLife = 0
	for name, c := range map[string]struct {
		shares allocation.Config
		do     func(ctx context.Context, l *engine.Loop) error
	}{
		"fair":  {fair, nil},
		"decay": {decay, nil},
		"other shares": {fair, func(ctx context.Context, l *engine.Loop) error {
			return l.Configure(ctx, decay)
		}},
		"usage": {decay, func(ctx context.Context, l *engine.Loop) error {
			_, err := l.Books.SetUsed(ctx, "pool0", 1, "ann", "test")
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			stores, _, _ := several(t, 2)
			e := &elsewhere{T: t, store: stores[1]}
			e.begin(12)
			loop, err := engine.NewLoop(t.Context(), &interruptedStore{stores[0], func() {}, e.end},
				engine.LoopOptions{Shares: c.shares})
			if err == nil && c.do != nil {
				err = c.do(t.Context(), loop)
			}
			if err != nil {
				t.Fatal(err)
			}
			e.once(loop, "pool0")
		})
	}
}

// TestBoostWhileOneEndsElsewhere: if another server ends an attempt while a boost begins, the attempt does not count
// both as ended and as running. Otherwise the boost would last longer after a restart.
func TestBoostWhileOneEndsElsewhere(t *testing.T) {
	stores, _, _ := several(t, 2)
	e := &elsewhere{T: t, store: stores[1]}
	store := &interruptedStore{stores[0], func() {}, func() {}}
	shares := allocation.Default()
	shares.Sched.HalfLife = 0
	loop, err := engine.NewLoop(t.Context(), store, engine.LoopOptions{Shares: shares})
	if err != nil {
		t.Fatal(err)
	}
	e.begin(1)
	views.Pools(t.Context(), loop) // brings the loop up to date
	first := e.runs[0]
	store.first = e.end
	boost, err := loop.Overrides.Boost(t.Context(), engine.Boost{Pool: "pool0", Factor: 2, Usage: 1e6}, "test")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := e.store.Tasks(t.Context(), first.JobID)
	if err != nil || len(e.runs) > 0 {
		t.Fatal("no attempt ended while the boost began", err)
	}
	if want := 4 * tasks[0].Ended.Sub(tasks[0].Started).Seconds(); math.Abs(boost.Base-want) > 1e-6 {
		t.Errorf("the pool had received %v slot-seconds when its boost began, want %v", boost.Base, want)
	}
}

// once lets the other attempts end, and compares the counts of the loop with those of the store.
func (e *elsewhere) once(loop *engine.Loop, pool string) {
	e.Helper()
	if len(e.runs) == 12 {
		e.Error("no attempt ended while the state was read")
	}
	views.Pools(e.Context(), loop) // brings the loop up to date
	for len(e.runs) > 0 {
		e.end()
	}
	kept, err := e.store.Usage(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	want := kept.Pools[pool].Used
	for _, p := range views.Pools(e.Context(), loop) {
		if p.Path == pool && (math.Abs(p.Used-want) > 1e-6*want || p.Tasks != 0) {
			e.Errorf("the loop counts %v slot-seconds and %d that run, want %v and none", p.Used, p.Tasks, want)
		}
	}
}
