package sched_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestConservativePassesWhatCanNeverStart: a gang that asks for more licenses than exist goes before no job, even if a
// maximum leaves room for only one of the jobs.
func TestConservativePassesWhatCanNeverStart(t *testing.T) {
	g := share.Pool{Name: "g", Weight: 1, Policy: "fifo", Max: map[string]int64{"cpu": 5}}
	g.Pools = []share.Pool{{Name: "never", Weight: 1}, {Name: "soon", Weight: 1}}
	root := share.Pool{Policy: "fair", Pools: []share.Pool{g}}
	s, err := sched.New(sched.Config{Root: root, Backfill: sched.Conservative,
		NewPolicy: policy.New(policy.Options{}), Licenses: map[string]int64{"lic": 3}}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 5}, epoch)
	w := &world{Scheduler: s, t: t, now: epoch}
	one := cluster.Amounts{"cpu": 1}
	never := s.KeyOf(sched.Request{Amounts: one, Gang: 4, Licenses: map[string]int64{"lic": 1}})
	s.Add(sched.Job{ID: 1, Pool: s.Pool("g/never"), Key: never, Priority: normal, Tasks: 4}, epoch)
	wide := s.Key(cluster.Amounts{"cpu": 4})
	s.Add(sched.Job{ID: 2, Pool: s.Pool("g/soon"), Key: wide, Priority: normal, Tasks: 1}, epoch)
	if starts := w.step(0); len(starts) != 1 || starts[0].Job != 2 {
		t.Errorf("%v start, want job 2", starts)
	}
}

// TestDrawsEndWhereAllAskForTheSame: a step draws only some pools, and the next step continues. In that next step,
// pools that found no room are not drawn again, even if all tasks ask for the same and nothing is planned.
func TestDrawsEndWhereAllAskForTheSame(t *testing.T) {
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: "lottery"}, Backfill: sched.EASY,
		NewPolicy: policy.New(policy.Options{}), Licenses: map[string]int64{"lic": 1}}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 6}, epoch)
	licensed := s.KeyOf(sched.Request{Amounts: cluster.Amounts{"cpu": 1}, Licenses: map[string]int64{"lic": 1}})
	for id := range int64(12) {
		s.Add(sched.Job{ID: id + 1, Pool: s.Pool(fmt.Sprint("p", id)), Key: licensed, Priority: normal, Tasks: 1}, epoch)
	}
	var d sched.Decision
	steps := 0
	for d.More = true; d.More && steps < 100; steps++ {
		s.Step(epoch, 0, &d)
	}
	if d.More {
		t.Errorf("%d steps want another one, although nothing more can start", steps)
	}
}
