package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/sched"
)

// wideExample is a few jobs on a small machine, in which wide jobs wait behind narrow ones of another user with the
// same share. Times are in seconds. Nodes are held from the first end of a task that leaves too little room. So the two
// wide jobs of the fifth example wait until the third job, which begins at that instant, has ended.
type wideExample struct {
	name     string
	nodes    int // of two processors each
	backfill sched.Backfill
	patience time.Duration
	jobs     []exampleJob
	starts   []int64
	without  []int64 // the starts under first-fit
}

// exampleJob is a job of a user: its width in processors, its length, and its time limit, or 0 if it has none.
type exampleJob struct {
	submit        int64
	user          int32
	length, limit int64
	procs         int32
}

// of returns jobs that are alike.
func of(n int, j exampleJob) []exampleJob { return slices.Repeat([]exampleJob{j}, n) }

// narrow is a job of the first user that is submitted at the beginning and asks for one processor.
func narrow(length, limit int64) exampleJob { return exampleJob{0, 0, length, limit, 1} }

var wideExamples = []wideExample{
	{
		name: "no limits", nodes: 1, backfill: sched.EASY, patience: 20 * time.Second,
		jobs: slices.Concat(of(1, narrow(10, 0)), of(1, narrow(15, 0)), of(5, narrow(10, 0)),
			of(1, exampleJob{3, 1, 10, 0, 2})),
		starts:  []int64{0, 0, 10, 30, 30, 40, 40, 20},
		without: []int64{0, 0, 10, 15, 20, 25, 30, 40},
	},
	{
		name: "limits longer than the jobs", nodes: 1, backfill: sched.EASY, patience: 10 * time.Second,
		jobs: []exampleJob{
			narrow(60, 60), narrow(30, 60), {5, 1, 10, 10, 2}, {6, 0, 20, 30, 1}, {7, 0, 20, 20, 1},
			{8, 0, 25, 31, 1},
		},
		starts:  []int64{0, 0, 60, 30, 70, 70},
		without: []int64{0, 0, 85, 30, 50, 60},
	},
	{
		name: "room on one of two nodes", nodes: 2, backfill: sched.EASY, patience: 10 * time.Second,
		jobs: []exampleJob{
			narrow(20, 20), narrow(33, 33), narrow(25, 25), narrow(40, 40), {2, 1, 10, 10, 2},
			{3, 0, 20, 20, 1}, {3, 0, 20, 20, 1}, {3, 0, 20, 20, 1},
		},
		starts:  []int64{0, 0, 0, 0, 33, 25, 40, 43},
		without: []int64{0, 0, 0, 0, 45, 20, 25, 33},
	},
	{
		name: "a gang of two nodes", nodes: 3, backfill: sched.EASY, patience: 10 * time.Second,
		jobs: []exampleJob{
			{0, 0, 20, 20, 2}, {0, 0, 30, 30, 2}, {0, 0, 44, 44, 2}, {2, 1, 10, 10, 4}, {3, 0, 20, 20, 2},
			{3, 0, 20, 20, 2}, {3, 0, 20, 20, 2},
		},
		starts:  []int64{0, 0, 0, 30, 40, 40, 44},
		without: []int64{0, 0, 0, 50, 20, 30, 40},
	},
	{
		name: "two wide jobs of two users", nodes: 1, backfill: sched.EASY, patience: 10 * time.Second,
		jobs: []exampleJob{
			narrow(20, 0), narrow(30, 0), narrow(20, 0), narrow(20, 0), {1, 1, 10, 0, 2}, {2, 2, 10, 0, 2},
			{3, 0, 15, 0, 1},
		},
		starts:  []int64{0, 0, 20, 60, 40, 50, 60},
		without: []int64{0, 0, 20, 30, 55, 65, 40},
	},
	{
		name: "conservative", nodes: 1, backfill: sched.Conservative,
		jobs: []exampleJob{
			narrow(10, 10), narrow(15, 15), narrow(10, 10), narrow(10, 10), narrow(10, 10), narrow(10, 10),
			{3, 1, 10, 10, 2},
		},
		starts:  []int64{0, 0, 25, 25, 35, 35, 15},
		without: []int64{0, 0, 10, 15, 20, 25, 35},
	},
}

// TestWideExamples plays worked examples of wide jobs in the simulator and in the live loop.
func TestWideExamples(t *testing.T) {
	for _, x := range wideExamples {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				simulated, live := x.play(t, x.backfill)
				if !slices.Equal(simulated, x.starts) || !slices.Equal(live, x.starts) {
					t.Errorf("starts %v simulated, %v live; want %v", simulated, live, x.starts)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				simulated, live := x.play(t, sched.FirstFit)
				if !slices.Equal(simulated, x.without) || !slices.Equal(live, x.without) {
					t.Errorf("under first-fit starts %v simulated, %v live; want %v", simulated, live, x.without)
				}
			})
		})
	}
}

// play returns the starts of the jobs, in seconds of the example.
func (x wideExample) play(t *testing.T, backfill sched.Backfill) (simulated, lived []int64) {
	w := &sim.Workload{Name: x.name, Procs: 2 * x.nodes, Nodes: x.nodes, Zero: time.Now()}
	for i := range int32(3) {
		w.Users = append(w.Users, fmt.Sprint("u", i))
	}
	w.Pools = w.Users
	for i, j := range x.jobs {
		w.Jobs = append(w.Jobs, sim.Job{
			ID: int64(i + 1), Submit: j.submit, Run: j.length, Estimate: max(j.limit, j.length), NoLimit: j.limit == 0,
			Procs: j.procs, User: j.user, Pool: j.user,
		})
	}
	shares := allocation.Default()
	shares.Sched.Root.Policy, shares.Sched.HalfLife = "fair", 0
	shares.Sched.Backfill, shares.Sched.Patience = backfill, x.patience
	r, err := sim.Run(w, sim.Options{Config: shares.Sched, Seed: 1, Priority: shares.NormalPriority(), Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	o := engine.LoopOptions{Shares: shares, Seed: 1}
	return r.Schedule.Start, live(t, w, o, nil, pace{time.Second, time.Millisecond})
}
