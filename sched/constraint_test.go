package sched_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// A job that only some nodes satisfy waits for these nodes, and no other job waits behind it.
func TestConstraintHoldsUpItsOwnSubQueueOnly(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{})}, now, 1)
	if err != nil {
		t.Fatal(err)
	}
	a := s.JoinLabelled("a", cluster.Amounts{"cpu": 2}, cluster.Labels{"rack": "a"}, now)
	b := s.JoinLabelled("b", cluster.Amounts{"cpu": 2}, cluster.Labels{"rack": "b"}, now)
	must, err := cluster.ParseConstraint("rack=b")
	if err != nil {
		t.Fatal(err)
	}
	onB, anywhere := s.KeyOf(sched.Request{Constraint: must}), s.Key(cluster.Amounts{"cpu": 2})
	s.Add(sched.Job{ID: 1, Pool: s.Pool("u"), Key: onB, Priority: 2, Tasks: 3}, now)
	s.Add(sched.Job{ID: 2, Pool: s.Pool("v"), Key: anywhere, Priority: 2, Tasks: 2}, now)
	var d sched.Decision
	s.Step(now, 0, &d)
	got := map[string]int{}
	var ofOne sched.RunID
	for _, st := range d.Starts {
		got[fmt.Sprint(st.Job, " on ", st.Node)]++
		if st.Job == 1 {
			ofOne = st.Run
		}
	}
	if got[fmt.Sprint("1 on ", b)] != 2 || got[fmt.Sprint("2 on ", a)] != 1 || len(d.Starts) != 3 {
		t.Fatalf("started %v", got)
	}
	s.Finish(ofOne, now, true)
	if s.Step(now, 0, &d); len(d.Starts) != 1 || d.Starts[0].Job != 1 || d.Starts[0].Node != b {
		t.Fatalf("b has room again, started %v", d.Starts)
	}
	none, _ := cluster.ParseConstraint("rack=c")
	gates := s.GateView().Gates(sched.Job{ID: 3, Pool: s.Pool("u"), Key: s.KeyOf(sched.Request{Constraint: none})})
	if g := gates[len(gates)-1]; g.Open || g.Code != why.FitNever || !strings.Contains(g.Text, "no node satisfies") {
		t.Fatalf("%+v", g)
	}
}

// Jobs that wait for room in a fork are not confused with those of the original.
func TestForkKeepsItsOwnSubQueuesThatWaitForRoom(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{})}, now, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 3}, now)
	narrow, wide := s.Key(nil), s.Key(cluster.Amounts{"cpu": 3})
	var d sched.Decision
	add := func(s *sched.Scheduler, id int64, pool string, keys ...cluster.Key) sched.RunID {
		for i, key := range keys {
			s.Add(sched.Job{ID: id + int64(i), Pool: s.Pool(pool), Key: key, Priority: 2, Tasks: 1}, now)
		}
		s.Step(now, 0, &d)
		return d.Starts[0].Run
	}
	end := func(s *sched.Scheduler, runs ...sched.RunID) sched.RunID {
		for _, r := range runs {
			s.Finish(r, now, true)
		}
		s.Step(now, 0, &d)
		if len(d.Starts) == 0 {
			return 0
		}
		return d.Starts[0].Run
	}
	s.Pool("a")
	s.Pool("b")
	first := add(s, 1, "a", narrow)
	second := add(s, 2, "a", wide, narrow) // the wide job waits for room, and gets it later
	end(s, end(s, first, second))
	run := add(s, 4, "a", narrow)
	fork := s.Fork()
	there, here := add(fork, 5, "b", wide, narrow), add(s, 7, "a", wide, narrow)
	if end(fork, run, there); len(d.Starts) != 1 || d.Starts[0].Job != 5 {
		t.Fatalf("the fork started %v, want job 5", d.Starts)
	}
	if end(s, run, here); len(d.Starts) != 1 || d.Starts[0].Job != 7 {
		t.Fatalf("the original started %v, want job 7", d.Starts)
	}
}
