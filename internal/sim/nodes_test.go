package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// onNodes runs jobs in FIFO order on a machine of nodes and returns the result.
func onNodes(t *testing.T, backfill sched.Backfill, nodes, procs int, jobs []Job) *Result {
	t.Helper()
	w := &Workload{Name: "nodes", Procs: procs, Nodes: nodes, Jobs: jobs, Users: []string{"u"}, Pools: []string{"u"}}
	cfg := sched.Config{Root: share.Pool{Policy: "fifo"}, NewPolicy: policy.New(policy.Options{}), Backfill: backfill,
		Priorities: sched.DefaultPriorities()}
	r, err := Run(w, Options{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestNodes checks that a job of six processors on nodes of four uses two nodes with three each, and that a
// job of four needs a whole node, although two nodes together have four free.
func TestNodes(t *testing.T) {
	jobs := []Job{
		{ID: 1, Run: 10, Estimate: 10, Procs: 6},
		{ID: 2, Run: 20, Estimate: 20, Procs: 4},           // on the third node
		{ID: 3, Submit: 1, Run: 5, Estimate: 5, Procs: 2},  // waits: the first two nodes have one free each
		{ID: 4, Submit: 2, Run: 5, Estimate: 5, Procs: 1},  // starts early
		{ID: 5, Submit: 3, Run: 5, Estimate: 5, Procs: 12}, // all nodes
	}
	r := onNodes(t, sched.EASY, 3, 12, jobs)
	for i, want := range []int64{0, 0, 10, 2, 20} {
		if got := r.Schedule.Start[i]; got != want {
			t.Errorf("job %d starts at %d, want %d", i+1, got, want)
		}
	}
	if one := onNodes(t, sched.EASY, 1, 12, jobs); one.Schedule.Start[2] != 1 {
		t.Errorf("on one node, job 3 starts at %d, want 1", one.Schedule.Start[2])
	}
}

// TestNodesAreNeverOverfull adds up the processors in use in each second.
func TestNodesAreNeverOverfull(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var jobs []Job
	for i := range 300 {
		run := 1 + rng.Int64N(50)
		jobs = append(jobs, Job{ID: int64(i + 1), Submit: int64(i), Run: run, Estimate: run + rng.Int64N(50),
			Procs: 1 + rng.Int32N(16)})
	}
	r := onNodes(t, sched.EASY, 4, 16, jobs)
	for at := range int64(6000) {
		used := 0
		for i, j := range jobs {
			if s := r.Schedule.Start[i]; s <= at && at < s+j.Run {
				used += int(j.Procs)
			}
		}
		if used > 16 {
			t.Fatalf("%d processors in use at %d", used, at)
		}
	}
	for i := range jobs {
		if !r.Schedule.Started(i) {
			t.Errorf("job %d never ran", i+1)
		}
	}
}

// TestNodesOfOneProcessor checks that FCFS, first fit and EASY start every job at the same second on one
// machine and on nodes of one processor each. (Conservative backfilling plans certain nodes for certain jobs,
// so its starts differ.)
func TestNodesOfOneProcessor(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var jobs []Job
	at := int64(0)
	for i := range 400 {
		at += rng.Int64N(9)
		run := 1 + rng.Int64N(60)
		jobs = append(jobs, Job{ID: int64(i + 1), Submit: at, Run: run, Estimate: run + rng.Int64N(2)*rng.Int64N(100),
			Procs: 1 + rng.Int32N(12)})
	}
	for _, backfill := range []sched.Backfill{sched.FCFS, sched.FirstFit, sched.EASY} {
		one, apart := onNodes(t, backfill, 1, 12, jobs), onNodes(t, backfill, 12, 12, jobs)
		for i := range jobs {
			if a, b := one.Schedule.Start[i], apart.Schedule.Start[i]; a != b {
				t.Fatalf("%v: job %d starts at %d on one machine and at %d on nodes", backfill, i+1, a, b)
			}
		}
	}
}
