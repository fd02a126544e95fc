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

// newRanked returns a track under the policy fifo with a child pool "b" under the policy multifactor, on one slot. All
// jobs of the leaf pool b/x share one queue, whatever their priorities are.
func newRanked(t *testing.T) *track {
	t.Helper()
	cfg := sched.Config{HalfLife: time.Minute, NewPolicy: policy.New(policy.Options{}), Root: share.Pool{
		Policy: "fifo", Pools: []share.Pool{
			{Name: "a", Weight: 1, Pools: []share.Pool{{Name: "x", Weight: 1}}},
			{Name: "b", Weight: 1, Policy: "multifactor", Pools: []share.Pool{{Name: "x", Weight: 1}}},
		}}}
	s, err := sched.New(cfg, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 1}, epoch)
	return &track{Scheduler: s, now: epoch, jobs: map[int64]sched.Job{}, length: map[int64]time.Duration{},
		running: map[sched.RunID]taskRun{}}
}

func (c *track) submitTo(pool string, priority int) {
	id := int64(len(c.jobs) + 1)
	c.jobs[id] = sched.Job{ID: id, Pool: c.Pool(pool), Key: c.Key(nil), Tasks: 1, Priority: priority, Submitted: c.now}
	c.length[id] = time.Second
	c.Add(c.jobs[id], c.now)
}

// order returns the jobs in the order in which their tasks start.
func (c *track) order() []int64 {
	for len(c.starts) < len(c.jobs) {
		c.step()
		c.until(c.now.Add(time.Second))
	}
	return c.starts
}

// TestRankedPoolGoesByItsJobs: under the policy fifo, a pool whose policy ranks its jobs goes by the highest priority
// of its jobs, and then by the oldest of the jobs with this priority. The policy of the pool alone decides which of
// its jobs starts.
func TestRankedPoolGoesByItsJobs(t *testing.T) {
	for _, c := range []struct {
		name   string
		b, a   []int // priorities, in order of submission; those in b come first
		change int   // new priority of job 1; -1: no change
		want   []int64
	}{
		{"as submitted", []int{1}, []int{1}, -1, []int64{1, 2}},
		{"raised", []int{1}, []int{1}, 0, []int64{1, 2}},
		{"raised above another", []int{3}, []int{1}, 0, []int64{1, 2}},
		{"lowered", []int{1}, []int{1}, 2, []int64{2, 1}},
		{"submitted high", []int{0}, []int{1}, -1, []int64{1, 2}},
		{"two of one priority", []int{1, 1}, []int{1}, -1, []int64{1, 2, 3}},
		{"two priorities", []int{4, 0}, []int{1}, -1, []int64{1, 2, 3}},
		{"two lower priorities", []int{4, 3}, []int{1}, -1, []int64{3, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newRanked(t)
			for _, p := range c.b {
				k.submitTo("b/x", p)
			}
			for _, p := range c.a {
				k.submitTo("a/x", p)
			}
			if c.change >= 0 {
				k = k.with(1, c.change)
			}
			if got := k.order(); !slices.Equal(got, c.want) {
				t.Errorf("jobs start in the order %v, want %v", got, c.want)
			}
		})
	}
}

// TestStoppedTaskKeepsItsPriority: a task that a ranked pool started and that did not finish waits again with the
// priority of its own job, even if a job of another priority came since.
func TestStoppedTaskKeepsItsPriority(t *testing.T) {
	k := newRanked(t)
	k.submitTo("b/x", 0)
	k.submitTo("b/x", 4)
	k.submitTo("a/x", 1)
	k.Step(k.now, 0, &k.d)
	if len(k.d.Starts) != 1 || k.d.Starts[0].Job != 1 {
		t.Fatalf("starts %+v, want job 1", k.d.Starts)
	}
	k.Abort(k.d.Starts[0].Run, k.now, true)
	if got, want := k.order(), []int64{1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("jobs start in the order %v, want %v", got, want)
	}
}
