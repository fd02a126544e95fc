package engine_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/why"
)

// behind is a loop with one node behind which tasks wait in another queueing system.
type behind struct {
	*engine.Loop
	t      *testing.T
	store  fairlead.Store
	node   *engine.Member
	leases handed
	waits  *waitsHeard
	end    func() // of the loop
}

// waitsHeard is an observer that hears how long tasks waited.
type waitsHeard struct {
	engine.Observer
	mu   sync.Mutex
	all  []time.Duration
	gone int // leases of tasks that had not begun
}

func (w *waitsHeard) Stepped(time.Duration)        {}
func (w *waitsHeard) Stored(string, time.Duration) {}
func (w *waitsHeard) Ended(queue.Result)           {}
func (w *waitsHeard) Lost(queue.Ref)               {}
func (w *waitsHeard) WaitsFor(why.Code)            {}
func (w *waitsHeard) Began(b engine.Begun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.Queued {
		w.gone++
	}
}
func (w *waitsHeard) BeganThere(r queue.Run, _ queue.Header, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, r.Started.Sub(since))
}

// behindQueue runs f in virtual time with such a loop.
func behindQueue(t *testing.T, f func(*behind)) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{t: t, store: memory.New("cpu"), leases: make(handed, 100), waits: &waitsHeard{}, end: func() {}}
		b.again(nil)
		f(b)
		b.end()
	})
}

// again begins with a new loop over the same store, as after a restart.
func (b *behind) again(running []queue.Ref) {
	b.end()
	ctx, cancel := context.WithCancel(b.t.Context())
	b.end = func() { cancel(); synctest.Wait() }
	var err error
	if b.Loop, err = newLoop(ctx, b.store, engine.LoopOptions{}); err != nil {
		b.t.Fatal(err)
	}
	history.New(b.Loop).Keep()
	b.Observe(b.waits)
	go b.Run(ctx)
	capacity, err := engine.AgentCapacity(fairlead.Amounts{"cpu": 10})
	if err != nil {
		b.t.Fatal(err)
	}
	if b.node, err = b.Join(ctx, "slurm", capacity, engine.NodeInfo{Queue: true, Lease: time.Hour}, b.leases, running); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
}

// lets time pass, in which the node is there and renews its leases.
func (b *behind) lets(d time.Duration, refs ...queue.Ref) {
	b.t.Helper()
	for ; d > 0; d -= 10 * time.Second {
		time.Sleep(min(d, 10*time.Second))
		if _, err := b.node.RenewFor(b.t.Context(), refs, time.Hour); err != nil {
			b.t.Fatal(err)
		}
	}
	synctest.Wait()
}

func (b *behind) take() queue.Ref {
	b.t.Helper()
	synctest.Wait()
	select {
	case l := <-b.leases:
		return l.Ref
	default:
		b.t.Fatal("nothing was leased")
		return queue.Ref{}
	}
}

func (b *behind) pool(name string) views.PoolView {
	b.t.Helper()
	for _, p := range views.Pools(b.t.Context(), b.Loop) {
		if p.Path == name {
			return p
		}
	}
	b.t.Fatalf("there is no pool %s", name)
	return views.PoolView{}
}

// stands checks the running and the waiting tasks of a pool, in all and elsewhere, and its usage.
func (b *behind) stands(name string, tasks int32, running float64, waiting int64, queued int, used float64) {
	b.t.Helper()
	p := b.pool(name)
	if p.Tasks != tasks || p.Running != running || p.Waiting != waiting || p.Queued != queued || math.Abs(p.Used-used) > 0.01*(1+used) {
		b.t.Errorf("%s: %d tasks, %v units, %d wait, %d of these elsewhere, %v used; want %d, %v, %d, %d, %v",
			name, p.Tasks, p.Running, p.Waiting, p.Queued, p.Used, tasks, running, waiting, queued, used)
	}
}

// TestQueuedElsewhere: a task in another queueing system counts as waiting until it begins there,
// over restarts as well, and from then on as running; in the end the store and the loop have the
// same account.
func TestQueuedElsewhere(t *testing.T) {
	behindQueue(t, func(b *behind) {
		t, ctx := b.t, b.t.Context()
		id := enginetest.Submit(t, b.Loop, fairlead.Job{User: "ann", Pool: "a", Argv: []string{"x"},
			Request: fairlead.Amounts{"cpu": 2}})[0]
		ref := b.take()
		b.lets(10*time.Minute, ref)
		b.stands("a", 0, 0, 1, 1, 0)
		if s := enginetest.State(t, b.Loop, id); s != fairlead.Queued {
			t.Errorf("the job is %s", s)
		}
		if run, wait := b.Loop.Running(); run != 0 || wait != 1 {
			t.Errorf("%d tasks run and %d wait", run, wait)
		}
		a, err := forecast.New(b.Loop).Why(ctx, id, explain.WhyOptions{})
		if err != nil || a.Reason.Code != why.StateQueued {
			t.Errorf("why says %+v, %v", a.Reason, err)
		}
		b.again([]queue.Ref{ref})
		b.lets(10*time.Minute, ref)
		b.stands("a", 0, 0, 1, 1, 0)
		began := time.Now().Add(-2 * time.Minute)
		for range 2 {
			if err := b.node.Progress(ctx, []queue.Progress{{Ref: ref, Began: began}}); err != nil {
				t.Fatal(err)
			}
		}
		b.stands("a", 1, 2, 0, 0, 2*120)
		if s := enginetest.State(t, b.Loop, id); s != fairlead.Running {
			t.Errorf("the job is %s", s)
		}
		b.again([]queue.Ref{ref})
		b.lets(10*time.Minute, ref)
		b.stands("a", 1, 2, 0, 0, 2*720)
		if len(b.waits.all) != 1 || b.waits.all[0] != 18*time.Minute || b.waits.gone != 1 {
			t.Errorf("waits heard: %+v", b.waits)
		}
		v, err := b.node.Finish(ctx, []queue.Result{{Ref: ref, Outcome: fairlead.Outcome{State: fairlead.Succeeded}, Began: began, Ended: time.Now().Add(-5 * time.Minute)}})
		if err != nil || v[0].Err != nil {
			t.Fatal(v, err)
		}
		b.stands("a", 0, 0, 0, 0, 2*420)
		u, err := b.store.(queue.Accountant).Usage(ctx)
		if got := u.Pools["a"].Used; err != nil || math.Abs(got-2*420) > 2 {
			t.Errorf("the store booked %v, %v", got, err)
		}
	})
}

// TestQueuedInVain: a task that never begins there is charged nothing: neither when it is
// cancelled, nor when the bridge is lost and its lease runs out, nor when both are told at once.
func TestQueuedInVain(t *testing.T) {
	behindQueue(t, func(b *behind) {
		t, ctx := b.t, b.t.Context()
		jobs := []fairlead.Job{}
		for _, pool := range []string{"cancelled", "lost", "told"} {
			jobs = append(jobs, fairlead.Job{User: "ann", Pool: pool, Argv: []string{"x"}})
		}
		ids := enginetest.Submit(t, b.Loop, jobs...)
		refs := map[int64]queue.Ref{}
		for range ids {
			ref := b.take()
			refs[ref.JobID] = ref
		}
		b.lets(10*time.Minute, refs[ids[0]], refs[ids[1]], refs[ids[2]])
		now := time.Now()
		v, err := b.node.Finish(ctx, []queue.Result{
			{Ref: refs[ids[0]], Outcome: fairlead.Outcome{State: fairlead.Cancelled}, Ended: now.Add(-time.Minute)},
			{Ref: refs[ids[2]], Outcome: fairlead.Outcome{State: fairlead.Succeeded}, Began: now.Add(-time.Minute), Ended: now.Add(-30 * time.Second)},
		})
		if err != nil || v[0].Err != nil || v[1].Err != nil {
			t.Fatal(v, err)
		}
		time.Sleep(2 * time.Hour) // nobody renews
		synctest.Wait()
		u, err := b.store.(queue.Accountant).Usage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for pool, want := range map[string]float64{"cancelled": 0, "lost": 0, "told": 30} {
			if got := u.Pools[pool].Used; math.Abs(got-want) > 1 {
				t.Errorf("%s was charged %v, want %v", pool, got, want)
			}
		}
		tasks, err := b.store.Tasks(ctx, ids[1])
		if err != nil || tasks[0].State != fairlead.Waiting || tasks[0].Losses != 0 {
			t.Errorf("the one that was lost: %+v, %v", tasks, err)
		}
		b.stands("lost", 0, 0, 1, 0, 0)
	})
}

// TestQueuedUnheard: a task that was handed over stays with the worker for the requested time, even
// if the worker falls silent before it renews a lease: it goes on in the other queueing system.
func TestQueuedUnheard(t *testing.T) {
	behindQueue(t, func(b *behind) {
		id := enginetest.Submit(b.t, b.Loop, fairlead.Job{User: "ann", Argv: []string{"x"}})[0]
		b.take()
		for _, state := range []fairlead.State{fairlead.Running, fairlead.Waiting} {
			time.Sleep(50 * time.Minute)
			synctest.Wait()
			if tasks, err := b.store.Tasks(b.t.Context(), id); err != nil || tasks[0].State != state {
				b.t.Errorf("%+v, %v, want %s", tasks, err, state)
			}
		}
	})
}

// TestQueuedHistory: the history of a pool counts the time in another queueing system as waiting.
func TestQueuedHistory(t *testing.T) {
	behindQueue(t, func(b *behind) {
		t, ctx := b.t, b.t.Context()
		enginetest.Submit(t, b.Loop, fairlead.Job{User: "ann", Pool: "a", Argv: []string{"x"}})
		ref := b.take()
		b.lets(5*time.Minute, ref)
		began := time.Now()
		if err := b.node.Progress(ctx, []queue.Progress{{Ref: ref, Began: began}}); err != nil {
			t.Fatal(err)
		}
		b.lets(5*time.Minute, ref)
		got, err := b.store.(queue.HistoryKeeper).PoolHistory(ctx, queue.HistoryQuery{Pools: []string{"a"}, Level: 0, From: began.Add(-5 * time.Minute), To: time.Now()})
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		for _, s := range got[0].Steps {
			before, after := s.At.Before(began.Add(-20*time.Second)) && s.At.After(began.Add(-290*time.Second)), s.At.After(began.Add(10*time.Second))
			if s.Seconds > 0 && (before && (s.Running > 0 || s.Waiting < 0.99*s.Seconds) || after && (s.Running < 0.99*s.Seconds || s.Waiting > 0)) {
				t.Errorf("%v from its beginning: %+v", s.At.Sub(began), s)
			}
		}
	})
}
