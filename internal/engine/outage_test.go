package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// holding is a node with two tasks, whose leases are renewed.
type holding struct {
	t      *testing.T
	worker *deaf
	member *engine.Member
	refs   []queue.Ref
}

const held = 2

// hold has a node run two tasks.
func hold(ctx context.Context, t *testing.T, l *engine.Loop) *holding {
	t.Helper()
	h := &holding{t: t, worker: &deaf{}, refs: []queue.Ref{{JobID: 1, Attempt: 1}, {JobID: 1, Task: 1, Attempt: 1}}}
	var err error
	if h.member, err = l.Join(ctx, "n1", capacity, engine.NodeInfo{}, h.worker, nil); err != nil {
		t.Fatal(err)
	}
	enginetest.Submit(t, l, fairlead.Job{User: "ann", Array: "0-1"})
	h.worker.has(t, held, "at first")
	h.renew("at first")
	return h
}

var capacity = fairlead.Amounts{"cpu": held, "handler.work": 1 << 40}

func (h *holding) renew(when string) {
	h.t.Helper()
	errs, err := h.member.Renew(h.t.Context(), h.refs)
	if err := errors.Join(append(slices.Clone(errs), err)...); err != nil {
		h.t.Errorf("%s the leases cannot be renewed: %v", when, err)
	}
}

// told expects that a renewal is answered, in time for more tries, and that the store is away.
func (h *holding) told() {
	h.t.Helper()
	began := time.Now()
	_, err := h.member.Renew(h.t.Context(), h.refs)
	if !errors.Is(err, queue.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
		h.t.Fatalf("a renewal while the store is away: %v", err)
	}
	if took := time.Since(began); took > time.Minute/4 {
		h.t.Fatalf("a renewal is answered after %v", took)
	}
}

// TestTasksOutlastTheStore: the store was away for ten leases, and refused calls or did not answer them. A worker that
// was told so keeps its tasks. If the worker is not heard from afterwards, the tasks run elsewhere one lease later.
func TestTasksOutlastTheStore(t *testing.T) {
	for name, away := range map[string]func(*enginetest.AwayStore) *atomic.Bool{
		"refuses": func(s *enginetest.AwayStore) *atomic.Bool { return &s.Refuses },
		"hangs":   func(s *enginetest.AwayStore) *atomic.Bool { return &s.Silent },
	} {
		for _, back := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, the worker comes back %t", name, back), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := &enginetest.AwayStore{Store: memory.New("cpu")}
					lived(t, store, func(ctx context.Context, l *engine.Loop) {
						lease := l.LeaseTTL()
						h := hold(ctx, t, l)
						time.Sleep(2 * lease / 3)
						h.renew("before")
						away(store).Store(true)
						for range 20 {
							h.told()
							time.Sleep(lease / 4)
						}
						h.told()
						away(store).Store(false)
						if back {
							time.Sleep(lease / 4)
							h.renew("when the store is back")
							time.Sleep(lease - time.Second)
							h.worker.has(t, held, "a lease later")
							return
						}
						other := &deaf{}
						m, err := l.Join(ctx, "n2", capacity, engine.NodeInfo{}, other, nil)
						if err != nil {
							t.Fatal(err)
						}
						time.Sleep(lease - time.Second)
						other.has(t, 0, "before a lease was over")
						if _, err := m.Renew(ctx, nil); err != nil {
							t.Fatal(err)
						}
						time.Sleep(time.Second + lease/4)
						other.has(t, held, "after a lease without a word")
					})
				})
			})
		}
	}
}

// TestTasksOutlastTheServer: a worker that comes back to a server that was away for ten leases keeps what it runs.
func TestTasksOutlastTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		var refs []queue.Ref
		lease := time.Minute
		lived(t, store, func(ctx context.Context, l *engine.Loop) { refs = hold(ctx, t, l).refs })
		time.Sleep(10 * lease)
		lived(t, store, func(ctx context.Context, l *engine.Loop) {
			time.Sleep(lease / 2) // it was slow to find out that the server is back
			h := &holding{t: t, worker: &deaf{}, refs: refs}
			var err error
			if h.member, err = l.Join(ctx, "n1", capacity, engine.NodeInfo{}, h.worker, refs); err != nil {
				t.Fatal(err)
			}
			h.renew("at the new server")
			time.Sleep(lease - time.Second)
			h.worker.has(t, 0, "later")
		})
	})
}

// rolled is a store that several servers may use.
type rolled struct {
	*memory.Store
	others atomic.Pointer[[]queue.Server]
}

func (s *rolled) Announce(context.Context, queue.Server, time.Duration) (queue.Roll, error) {
	if o := s.others.Load(); o != nil {
		return queue.Roll{Others: *o}, nil
	}
	return queue.Roll{}, nil
}

func (s *rolled) Servers(context.Context) ([]queue.Server, error) { return nil, nil }

func (s *rolled) Retire(context.Context, string) error { return nil }

func (s *rolled) Recheck(context.Context, []int64) ([]queue.Change, int64, error) { return nil, 0, nil }

// TestSole: a server knows whether another one may end the leases of its workers.
func TestSole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rolled{Store: memory.New("cpu")}
		lived(t, store, func(ctx context.Context, l *engine.Loop) {
			sole := func(want bool, when string) {
				t.Helper()
				time.Sleep(2 * time.Second) // servers say each second that they are there
				if l.Sole() != want {
					t.Errorf("%s: the only one: %t", when, !want)
				}
			}
			sole(true, "one")
			store.others.Store(&[]queue.Server{{Name: "other"}})
			sole(false, "two")
			store.others.Store(nil)
			sole(true, "one again")
		})
		lived(t, memory.New("cpu"), func(ctx context.Context, l *engine.Loop) {
			if l.Sole() {
				t.Error("a server is said to be alone though it cannot hear of others")
			}
		})
	})
}

// tardy takes no result for a while.
type tardy struct {
	*memory.Store
	away time.Duration
}

func (s *tardy) Finish(ctx context.Context, all []queue.Result) ([]queue.Verdict, error) {
	time.Sleep(s.away)
	return s.Store.Finish(ctx, all)
}

// charged checks the cpu-seconds that the store and the core have charged the pool of ann; a little of them has
// decayed.
func charged(t *testing.T, l *engine.Loop, store queue.Accountant, want float64) {
	t.Helper()
	u, err := store.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known := 0.0
	for _, p := range views.Pools(t.Context(), l) {
		if p.Path == "ann" {
			known = p.Used
		}
	}
	if stored := u.Pools["ann"].Used; math.Abs(stored/want-1) > 0.001 || math.Abs(known/want-1) > 0.001 {
		t.Errorf("the store has charged %v, the core %v; want %v", stored, known, want)
	}
}

// TestNobodyPaysForAnOutage: a handler that ran for two seconds is charged two seconds, however late the store takes
// its result.
func TestNobodyPaysForAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &tardy{Store: memory.New("cpu"), away: 12 * time.Second}
		lived(t, store, func(ctx context.Context, l *engine.Loop) {
			ctx, end := context.WithCancel(ctx)
			ended := make(chan error)
			go func() {
				ended <- l.Work(ctx, engine.WorkOptions{Handlers: map[string]engine.Handler{
					"work": engine.HandlerFunc(func(context.Context, *queue.Lease) error { time.Sleep(2 * time.Second); return nil }),
				}})
			}()
			id := enginetest.Submit(t, l, fairlead.Job{User: "ann"})[0]
			time.Sleep(time.Minute)
			if got := enginetest.State(t, l, id); got != fairlead.Succeeded {
				t.Errorf("the job is %s", got)
			}
			charged(t, l, store, 2)
			end()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	})
}

// TestEndsAreBounded: an attempt counts as ended no earlier than its holder last renewed it, whatever end the holder
// reports.
func TestEndsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		lived(t, store, func(ctx context.Context, l *engine.Loop) {
			h := hold(ctx, t, l)
			time.Sleep(40 * time.Second)
			h.renew("after 40 s")
			time.Sleep(40 * time.Second)
			now := time.Now()
			results := make([]queue.Result, held)
			for i, said := range []time.Duration{30 * time.Second, time.Hour} { // ago
				results[i] = queue.Result{
					Ref: h.refs[i], Outcome: queue.Outcome{State: queue.Succeeded}, Ended: now.Add(-said),
				}
			}
			verdicts, err := h.member.Finish(ctx, results)
			if err := errors.Join(err, verdicts[0].Err, verdicts[1].Err); err != nil {
				t.Fatal(err)
			}
			// The first ran for 50 s, as it says, and the second for the 40 s after which it was renewed.
			charged(t, l, store, 90)
		})
	})
}
