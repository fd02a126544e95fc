package sched_test

import (
	"testing"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestTooLargeBlocksNobody: under fcfs a job that does not fit on the empty nodes makes no job wait, and goes first as
// soon as there are nodes for it.
func TestTooLargeBlocksNobody(t *testing.T) {
	w := newWorldOf(t, sched.Config{Root: share.Pool{Policy: "fifo"}, NewPolicy: policy.New(policy.Options{}),
		Backfill: sched.FCFS})
	add := func(ask sched.Request) int64 {
		w.last++
		w.Add(sched.Job{ID: w.last, Pool: w.Pool("a"), Key: w.KeyOf(ask), Priority: normal, Tasks: max(1, ask.Gang)}, w.now)
		return w.last
	}
	one := sched.Request{Amounts: cluster.Amounts{"cpu": 1}}
	gang := one
	gang.Gang = 2
	large := add(gang)
	small, behind := add(one), add(one)
	first := w.step(0)
	if starts := first; len(starts) != 1 || starts[0].Job != small {
		t.Fatalf("%+v start, want the small job", starts)
	}
	w.Join("m", cluster.Amounts{"cpu": 1}, w.now)
	if starts := w.step(0); len(starts) > 0 {
		t.Fatalf("%+v start before the gang, which fits on two nodes", starts)
	}
	w.Finish(first[0].Run, w.now, true)
	if starts := w.step(0); len(starts) != 2 || starts[0].Job != large {
		t.Fatalf("%+v start, want the gang of job %d and not job %d", starts, large, behind)
	}
}
