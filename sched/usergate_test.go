package sched_test

import (
	"testing"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// TestUserRunning: the limit of a user's running tasks holds for all pools together, while other users go on. A gang
// above the limit never starts, and says so.
func TestUserRunning(t *testing.T) {
	for _, backfill := range []sched.Backfill{sched.FirstFit, sched.EASY, sched.Conservative} {
		cfg := sched.Config{
			Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}), Backfill: backfill, UserRunning: 3,
		}
		s, err := sched.New(cfg, epoch, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Join("n", cluster.Amounts{"cpu": 40}, epoch)
		w := &world{Scheduler: s, t: t, now: epoch}
		ann := w.ask("a", 4, sched.Request{User: "ann"})
		w.ask("b", 4, sched.Request{User: "ann", Amounts: cluster.Amounts{"cpu": 2}})
		w.ask("b", 2, sched.Request{User: "bob"})
		gang := w.ask("b", 4, sched.Request{User: "bob", Gang: 4})
		w.ask("b", 5, sched.Request{})
		first := w.step(0)
		if len(first) != 3+2+5 {
			t.Fatalf("%v: %d tasks start", backfill, len(first))
		}
		gates := s.GateView().QuotaGates(ann.Key)
		if len(gates) != 1 || gates[0].Code != "gate.user_running" ||
			gates[0].Text != "ann runs 3 of at most 3 tasks (user_limits.running)" {
			t.Errorf("%v: ann waits because of %+v", backfill, gates)
		}
		if gates := s.GateView().QuotaGates(gang.Key); gates[0].Code != why.GateNever {
			t.Errorf("%v: the gang waits because of %+v", backfill, gates)
		}
		for _, st := range first {
			if st.Job == ann.ID {
				w.Finish(st.Run, w.now, true)
				break
			}
		}
		if next := w.step(0); len(next) != 1 {
			t.Errorf("%v: %d tasks start after one of ann has ended", backfill, len(next))
		}
		cfg.UserRunning = 0
		if err := s.Configure(cfg, w.now); err != nil {
			t.Fatal(err)
		}
		if rest := w.step(0); len(rest) != 4+4 {
			t.Errorf("%v: %d tasks start without the limit", backfill, len(rest))
		}
	}
}
