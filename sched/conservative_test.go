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

// TestConservativeComesBackToWhatWasHeld: a maximum of a pool or of a job, a license or a rate keeps jobs out of the
// plan. The jobs are planned when that has changed, and the step says when that will be.
func TestConservativeComesBackToWhatWasHeld(t *testing.T) {
	for _, name := range []string{"fifo", "fair"} {
		t.Run(name, func(t *testing.T) { comesBack(t, name) })
	}
}

func comesBack(t *testing.T, policyName string) {
	at := func(second int) time.Time { return time.Unix(1_000_000, 0).Add(time.Duration(second) * time.Second) }
	for name, c := range map[string]struct {
		pool    share.Pool
		request sched.Request
		want    []int
	}{
		"pool":    {share.Pool{Max: map[string]int64{"cpu": 1}}, sched.Request{}, []int{0, 10, 20}},
		"job":     {share.Pool{JobRunning: 1}, sched.Request{}, []int{0, 10, 20}},
		"license": {share.Pool{}, sched.Request{Licenses: map[string]int64{"matlab": 1}}, []int{0, 10, 20}},
		"user":    {share.Pool{}, sched.Request{User: "ann"}, []int{0, 10, 20}},
		"rate":    {share.Pool{}, sched.Request{Rates: []string{"web"}}, []int{0, 60, 120}},
	} {
		c.pool.Name, c.pool.Weight = "a", 1
		s, err := sched.New(sched.Config{
			Root: share.Pool{Policy: policyName, Pools: []share.Pool{c.pool}}, NewPolicy: policy.New(policy.Options{}), Backfill: sched.Conservative,
			UserRunning: 1, Licenses: map[string]int64{"matlab": 1},
			Rates: map[string]sched.Rate{"web": {Count: 1, Per: time.Minute, Burst: 1}},
		}, at(0), 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Join("n", cluster.Amounts{"cpu": 4}, at(0))
		s.Add(sched.Job{ID: 1, Pool: s.Pool("a"), Key: s.KeyOf(c.request), Priority: 2, Tasks: 3, Limit: time.Minute}, at(0))
		var starts []int
		var d sched.Decision
		ends := map[int]sched.RunID{}
		for second := 0; second < 200; second++ {
			run, ended := ends[second]
			if ended {
				s.Finish(run, at(second), true)
			}
			if !ended && second > 0 && (d.Next.IsZero() || d.Next.After(at(second))) {
				continue
			}
			s.Step(at(second), 0, &d)
			for _, st := range d.Starts {
				starts = append(starts, second)
				ends[second+10] = st.Run
			}
		}
		if !slices.Equal(starts, c.want) {
			t.Errorf("%s: tasks start at %v, want %v", name, starts, c.want)
		}
	}
}

// TestMaxRunningHoldsUnderEveryPlacement: max_running holds under every backfill rule, also for jobs that are submitted
// when the pool is full.
func TestMaxRunningHoldsUnderEveryPlacement(t *testing.T) {
	for _, p := range []sched.Backfill{sched.FirstFit, sched.FCFS, sched.EASY, sched.Conservative} {
		t.Run(p.String(), func(t *testing.T) {
			root := share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1, MaxRunning: 1}}}
			s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Backfill: p}, epoch, 1)
			if err != nil {
				t.Fatal(err)
			}
			s.Join("n", cluster.Amounts{"cpu": 2}, epoch)
			w := &world{Scheduler: s, t: t, now: epoch}
			w.submit("a", 1)
			first := w.step(0)
			w.submit("a", 1)
			if more := w.step(0); len(first) != 1 || len(more) != 0 {
				t.Fatalf("%d and then %d tasks run at once in a pool that may run one", len(first), len(more))
			}
			w.tick(time.Second)
			w.Finish(first[0].Run, w.now, true)
			if next := w.step(0); len(next) != 1 {
				t.Errorf("%d tasks start when the first has ended, want 1", len(next))
			}
		})
	}
}
