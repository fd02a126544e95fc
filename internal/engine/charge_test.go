package engine_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/memory"
)

// holds takes tasks and lets them run.
type holds struct{ refs []queue.Ref }

func (h *holds) Start(leases []*fairlead.Lease) {
	for _, l := range leases {
		h.refs = append(h.refs, l.Ref)
	}
}

func (h *holds) Stop([]queue.Ref, string) {}

// TestChargeIsThatOfTheStart: a task that took a quarter of the machine when it began is charged for a quarter until
// its end, even if the machine is twice as large after a restart. The loop shows this charge while the task runs, and
// the store books it.
func TestChargeIsThatOfTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shares := fairlead.DefaultShares()
		shares.Sched.HalfLife = 0
		shares.Sched.Charge = sched.Charge{Dominant: true}
		store, worker := memory.New("cpu"), &holds{}
		run := func(cpus int64, running []queue.Ref, f func(l *engine.Loop, m *engine.Member)) {
			ctx, cancel := context.WithCancel(t.Context())
			l, err := newLoop(ctx, store, engine.LoopOptions{Shares: shares, LeaseTTL: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(func() { _ = l.Run(ctx) })
			offer := fairlead.Amounts{"cpu": cpus, "mem": 400, "exec": 9}
			m, err := l.Join(ctx, "n", offer, engine.NodeInfo{}, worker, running)
			if err != nil {
				t.Fatal(err)
			}
			f(l, m)
			cancel()
			wg.Wait()
		}
		used := func(l *engine.Loop) float64 {
			for _, p := range views.Pools(t.Context(), l) {
				if p.Path == "ann" {
					return p.Used
				}
			}
			return math.NaN()
		}
		run(8, nil, func(l *engine.Loop, m *engine.Member) {
			if _, err := l.Client().Submit(t.Context(), fairlead.Job{User: "ann", Argv: []string{"true"}, Request: fairlead.Amounts{"cpu": 1, "mem": 100}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			if got := used(l); got != 20 { // a quarter of 8 processors, for 10 s
				t.Errorf("after 10 s it was charged %v, want 20", got)
			}
		})
		run(16, worker.refs, func(l *engine.Loop, m *engine.Member) {
			time.Sleep(10 * time.Second)
			if got := used(l); got != 40 {
				t.Errorf("after a restart and 20 s it was charged %v, want 40", got)
			}
			if _, err := store.Finish(t.Context(), []queue.Result{{Ref: worker.refs[0], Outcome: fairlead.Outcome{State: fairlead.Succeeded}}}); err != nil {
				t.Fatal(err)
			}
			u, err := store.Usage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := u.Pools["ann"].Used; got != 40 {
				t.Errorf("the store booked %v, want 40", got)
			}
		})
	})
}
