package sched_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestEntitledExample plays the cluster of the documentation. Physics and biology have 60 and 40 percent of 64, env a
// minimum of 8; epi wants 48 and env 16.
func TestEntitledExample(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{
		{Name: "physics", Weight: 3, Pools: []share.Pool{{Name: "markov", Weight: 1}, {Name: "curie", Weight: 1}}},
		{Name: "biology", Weight: 2, Pools: []share.Pool{
			{Name: "env", Weight: 1, Min: map[string]int64{"cpu": 8}}, {Name: "epi", Weight: 1},
		}},
	}}, 64, 1)
	for pool, tasks := range map[string]int{"physics/markov": 36, "physics/curie": 24, "biology/env": 16, "biology/epi": 48} {
		w.submit(pool, tasks)
	}
	e := w.Read().Entitlements()
	for pool, want := range map[string]float64{
		"physics": 38.4, "biology": 25.6, "physics/markov": 19.2, "physics/curie": 19.2, "biology/env": 12.8, "biology/epi": 12.8,
	} {
		id, _ := w.Lookup(pool)
		if got := e[id].Now; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is due %v now, want %v", pool, got, want)
		}
	}
}

// TestEntitledBelow: capacity that the limits of lower pools leave unused goes to other pools, and the minima of lower
// pools count above, too.
func TestEntitledBelow(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{
		{Name: "a", Weight: 1, Pools: []share.Pool{{Name: "capped", Weight: 1, Max: map[string]int64{"cpu": 2}}}},
		{Name: "b", Weight: 1},
		{Name: "c", Weight: 1, Pools: []share.Pool{{Name: "sure", Weight: 1, Min: map[string]int64{"cpu": 6}}}},
	}}, 12, 1)
	for _, pool := range []string{"a/capped", "b", "c/sure"} {
		w.submit(pool, 100)
	}
	e := w.Read().Entitlements()
	for pool, want := range map[string]float64{"a": 2, "a/capped": 2, "b": 4, "c": 6, "c/sure": 6} {
		id, _ := w.Lookup(pool)
		if got := e[id].Now; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is due %v now, want %v", pool, got, want)
		}
	}
}

// TestNothingIsOwedForTheImpossible: some tasks count as demand but not as entitlement: tasks that no node could run,
// tasks that their job's own limit holds back, and tasks that wait although there is room.
func TestNothingIsOwedForTheImpossible(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 10, 1)
	wide := w.Key(cluster.Amounts{"cpu": 11})
	w.Add(sched.Job{ID: 100, Pool: w.Pool("ann"), Key: wide, Priority: normal, Tasks: 3}, w.now)
	w.Add(sched.Job{ID: 101, Pool: w.Pool("bob"), Key: w.Key(nil), Priority: normal, Tasks: 50, MaxRunning: 2}, w.now)
	w.step(0)
	e := w.Read().Entitlements()
	ann, bob := e[w.Pool("ann")], e[w.Pool("bob")]
	if ann.Demand != 33 || ann.Now != 0 || bob.Demand != 50 || bob.Now != 2 || e[sched.Root].Now != 2 {
		t.Errorf("ann %+v, bob %+v, all %+v", ann, bob, e[sched.Root])
	}
	if idle := w.Read().IdleWhileDemand(); idle != 0 {
		t.Errorf("%v idle", idle)
	}
}

// TestNothingIsOwedForLicenses: tasks that wait for a license do not add to the entitlement.
func TestNothingIsOwedForLicenses(t *testing.T) {
	cfg := newWorld(t, share.Pool{Policy: "fair"}, 1, 1).Read().Config()
	cfg.Licenses = map[string]int64{"matlab": 1}
	s, err := sched.New(cfg, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 10}, epoch)
	w := &world{Scheduler: s, t: t, now: epoch}
	key := s.KeyOf(sched.Request{Licenses: map[string]int64{"matlab": 1}})
	s.Add(sched.Job{ID: 1, Pool: s.Pool("ann"), Key: key, Priority: normal, Tasks: 5}, epoch)
	w.step(0)
	if ann := s.Read().Entitlements()[s.Pool("ann")]; ann.Demand != 5 || ann.Now != 1 {
		t.Errorf("ann runs 1 of 5, and is entitled to %+v", ann)
	}
	if idle := s.Read().IdleWhileDemand(); idle != 0 {
		t.Errorf("%v idle", idle)
	}
	s.Add(sched.Job{ID: 2, Pool: s.Pool("bob"), Key: key, Priority: normal, Tasks: 1}, epoch)
	if got := waitingIn(s); !slices.Equal(got, []int64{1, 2}) || s.Read().OldestWaiting()[sched.Root] != 1 {
		t.Errorf("jobs %v wait: four tasks of an array wait while one runs", got)
	}
}

// waitingIn returns the ids of the jobs with waiting tasks.
func waitingIn(s *sched.Scheduler) (ids []int64) {
	s.Read().WaitingJobs(func(_ cluster.Key, id int64) bool { ids = append(ids, id); return true })
	slices.Sort(ids)
	return ids
}

// TestIdleWhileDemand: if jobs start strictly in order, one wide task keeps the slots from narrow tasks.
func TestIdleWhileDemand(t *testing.T) {
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fifo"}, NewPolicy: newWorld(t, share.Pool{Policy: "fifo"}, 1, 1).Read().Config().NewPolicy, Backfill: sched.FCFS}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 4}, epoch)
	w := &world{Scheduler: s, t: t, now: epoch}
	w.submit("a", 1)
	w.step(0)
	w.last++
	s.Add(sched.Job{ID: w.last, Pool: s.Pool("a"), Key: s.Key(cluster.Amounts{"cpu": 4}), Priority: normal, Tasks: 1}, epoch)
	w.submit("a", 2)
	if got := s.Read().OldestWaiting()[sched.Root]; got != 2 {
		t.Errorf("job %d is the oldest", got)
	}
	if got := waitingIn(s); !slices.Equal(got, []int64{2, 3}) {
		t.Errorf("jobs %v wait, want 2 and 3", got)
	}
	n := 0
	s.Read().WaitingJobs(func(cluster.Key, int64) bool { n++; return false })
	if n != 2 {
		t.Errorf("%d sub-queues are visited, want 2", n)
	}
	w.tick(time.Second)
	if starts := w.step(0); len(starts) != 0 {
		t.Fatalf("%d started", len(starts))
	}
	if idle := s.Read().IdleWhileDemand(); idle != 2 {
		t.Errorf("%v idle while two tasks would fit", idle)
	}
}

// checkEntitled: the ideal divides the entitlement of a pool among its children, never gives a pool more than its
// maximum, and in sum gives the smaller of the capacity and the work that could run.
func (m *model) checkEntitled(t *rapid.T) {
	e := m.Read().Entitlements()
	capacity, _ := m.Cluster().Capacity()
	for i := range e {
		id := sched.PoolID(i)
		if e[i].Now < 0 || e[i].Now > e[i].Demand+1e-6 {
			t.Fatalf("pool %q is due %v of %v that it wants", m.Path(id), e[i].Now, e[i].Demand)
		}
		if l, ok := m.Read().Limits(id); ok && l.Max["cpu"] > 0 && e[i].Now > float64(l.Max["cpu"])+1e-6 {
			t.Fatalf("pool %q is due %v, above its maximum of %d", m.Path(id), e[i].Now, l.Max["cpu"])
		}
		kids, sum := m.Read().Children(id), 0.0
		for _, kid := range kids {
			sum += e[kid].Now
		}
		if len(kids) > 0 && math.Abs(sum-e[i].Now) > 1e-6 && m.View(id).Tasks == tasksBelow(m, kids) {
			t.Fatalf("pool %q is due %v, and those in it %v", m.Path(id), e[i].Now, sum)
		}
	}
	if e[sched.Root].Now > float64(capacity[0])+1e-6 {
		t.Fatalf("all are due %v of %d", e[sched.Root].Now, capacity[0])
	}
}

func tasksBelow(m *model, kids []sched.PoolID) (n int32) {
	for _, kid := range kids {
		n += m.View(kid).Tasks
	}
	return n
}

// TestNothingIsOwedForWidths: of 100 processors ann's tasks of 64 can use 64, and bob's narrow tasks the rest. Neither
// is entitled to the processors that stay idle beside them. The simulator measures the same.
func TestNothingIsOwedForWidths(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{
		{Name: "ann", Weight: 1}, {Name: "bob", Weight: 1, Max: map[string]int64{"cpu": 10}}}}, 100, 1)
	ask := func(n int64) cluster.Key { return w.Key(cluster.Amounts{"cpu": n}) }
	wide, three, nine := ask(64), ask(3), ask(9)
	due := func() (ann, bob, all float64) {
		e := w.Read().Entitlements()
		return e[w.Pool("ann")].Now, e[w.Pool("bob")].Now, e[sched.Root].Now
	}
	w.Add(sched.Job{ID: 100, Pool: w.Pool("ann"), Key: wide, Priority: normal, Tasks: 5}, w.now)
	if ann, _, all := due(); ann != 64 || all != 64 {
		t.Errorf("ann alone waits, and is due %v of %v", ann, all)
	}
	w.step(0)
	if ann, _, all := due(); ann != 64 || all != 64 {
		t.Errorf("ann runs 64, and is due %v of %v", ann, all)
	}
	w.Add(sched.Job{ID: 101, Pool: w.Pool("bob"), Key: three, Priority: normal, Tasks: 5}, w.now)
	w.Add(sched.Job{ID: 102, Pool: w.Pool("bob"), Key: ask(11), Priority: 1, Tasks: 9}, w.now)
	if ann, bob, all := due(); ann != 64 || bob != 9 || all != 73 {
		t.Errorf("of a maximum of 10 bob can use 9 with tasks of 3: he is due %v, ann %v, all %v", bob, ann, all)
	}
	w.Add(sched.Job{ID: 103, Pool: w.Pool("bob"), Key: nine, Priority: 1, Tasks: 9}, w.now)
	w.Add(sched.Job{ID: 104, Pool: w.Pool("bob"), Key: ask(4), Priority: normal, Tasks: 1}, w.now)
	if _, bob, _ := due(); bob != 10 {
		t.Errorf("3 + 3 + 4 make 10, and bob is due %v", bob)
	}
}
