package sched_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

func (w *world) reload(root share.Pool, priorities ...sched.Priority) {
	w.t.Helper()
	cfg := sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Priorities: priorities}
	if err := w.Configure(cfg, w.now); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Check(); err != nil {
		w.t.Fatal(err)
	}
}

// TestReloadPriorities: waiting and running jobs keep their priority when the list of priorities changes, even if the
// list no longer contains it.
func TestReloadPriorities(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 2, 1)
	w.submit("a", 5)
	low := sched.Job{ID: 100, Pool: w.Pool("a"), Key: w.Key(nil), Priority: 4, Tasks: 3}
	w.Add(low, w.now)
	later := sched.Job{ID: 101, Pool: w.Pool("a"), Key: w.Key(nil), Priority: 4, Tasks: 1, Begin: w.now.Add(time.Hour)}
	w.Add(later, w.now)
	started := w.step(0)
	w.reload(share.Pool{Policy: "fair"}, sched.Priority{Name: "urgent", Weight: 100}, sched.Priority{Name: "normal", Weight: 3})
	a, _ := w.Lookup("a")
	got := map[string]float64{}
	for _, kid := range w.Read().Children(a) {
		got[w.Read().Name(kid)] = w.View(kid).Weight
	}
	if got["normal"] != 3 || got["very_low"] != 0.25 || len(got) != 2 {
		t.Errorf("bands: %v", got)
	}
	known := w.Read().Config().Priorities
	if low.Priority = slices.IndexFunc(known, func(p sched.Priority) bool { return p.Name == "very_low" }); low.Priority < 0 {
		t.Fatalf("very_low is forgotten: %v", known)
	}
	for _, s := range started {
		w.Abort(s.Run, w.now, true)
	}
	w.tick(time.Hour)
	w.Advance(w.now)
	if n := w.View(a).Waiting; n != 9 {
		t.Errorf("%d wait, want 9", n)
	}
	if n := w.Withdraw(low, w.now); n != 3 {
		t.Errorf("%d tasks of the low job withdrawn, want 3", n)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// rounds lets one slot serve tasks of ten seconds and counts the starts by pool.
func (w *world) rounds(n int) map[string]int {
	count := map[string]int{}
	for range n {
		st := w.step(1)
		if len(st) == 0 {
			return count
		}
		count[w.Path(st[0].Pool)]++
		w.tick(10 * time.Second)
		w.Finish(st[0].Run, w.now, true)
	}
	return count
}

// TestReloadAddsPool: a pool that a new configuration adds is treated as any new pool and has no claim for the time
// before it.
func TestReloadAddsPool(t *testing.T) {
	root := share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}}
	w := newWorld(t, root, 1, 1)
	w.submit("a", 100)
	w.submit("b", 100)
	w.rounds(200)
	root.Pools = append(root.Pools, share.Pool{Name: "c", Weight: 1})
	w.reload(root)
	for _, p := range []string{"c", "a", "b"} {
		w.submit(p, 1000)
	}
	for pool, n := range w.rounds(120) {
		if n < 39 || n > 41 {
			t.Errorf("%s started %d of 120", pool, n)
		}
	}
}

// TestMaximumStopsOnlyItsPool: under first come, first served, a maximum stops only its own pool.
func TestMaximumStopsOnlyItsPool(t *testing.T) {
	root := share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 100, Max: map[string]int64{"cpu": 3}}, {Name: "b", Weight: 1}}}
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Backfill: sched.FCFS}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 10}, epoch)
	w := &world{Scheduler: s, t: t, now: epoch}
	for range 3 {
		w.last++
		s.Add(sched.Job{ID: w.last, Pool: s.Pool("a"), Key: s.Key(cluster.Amounts{"cpu": 2}), Priority: normal, Tasks: 1}, epoch)
	}
	w.submit("b", 3)
	if got := w.paths(w.step(0)); !slices.Equal(got, []string{"a", "b", "b", "b"}) {
		t.Errorf("started %v", got)
	}
}

// TestJobLimitOfReturnedTasks: for tasks that return one by one, max_job_running of the pool holds as for the first
// submission.
func TestJobLimitOfReturnedTasks(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1, JobRunning: 1}}}, 10, 1)
	j := w.submit("a", 2)
	w.rounds(2)
	j.Tasks = 1
	running := 0
	for range 2 {
		w.Add(j, w.now)
		running += len(w.step(0))
	}
	if running != 1 {
		t.Errorf("%d tasks of the job run at once", running)
	}
}

// TestExpectedAfterBranching: the expected service of running tasks stays right when the leaf in which they started
// gets priority classes.
func TestExpectedAfterBranching(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 200, 1)
	w.submit("a", 100)
	started := w.step(0)
	w.Add(sched.Job{ID: 1000, Pool: w.Pool("a"), Key: w.Key(nil), Priority: 1, Tasks: 1000}, w.now)
	w.submit("a", 1000)
	w.tick(time.Hour)
	for _, s := range started {
		w.Finish(s.Run, w.now, true)
	}
	w.step(0)
	a, _ := w.Lookup("a")
	sum := 0.0
	for _, kid := range w.Read().Children(a) {
		sum += w.View(kid).Flight
	}
	if flight := w.View(a).Flight; flight < 0.999*sum || flight > 1.001*sum || sum == 0 {
		t.Errorf("a expects %v, its bands %v", flight, sum)
	}
}
