package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/memory"
)

// tick is the live time of one simulated second. A live loop renews leases every few seconds of the clock,
// which would take long in a year.
const tick = time.Millisecond

// TestLiveIsTheSame runs one workload through the live loop, with its store and its clock, and through the
// simulator: every job starts at the same instant.
//
// The live loop also makes a step when leases are renewed: such a step, without news, changes nothing.
func TestLiveIsTheSame(t *testing.T) {
	all := []sched.Backfill{sched.FCFS, sched.FirstFit, sched.EASY, sched.Conservative}
	for policy, ways := range map[string][]sched.Backfill{
		"fifo": all, "fair": all, "fairtree": all, "deficit": all, "drf": all, "lottery": {sched.FirstFit},
	} {
		for _, backfill := range ways {
			t.Run(policy+"+"+backfill.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { compareLive(t, policy, backfill, 1, nil) })
			})
			t.Run(policy+"+"+backfill.String()+" on nodes", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { compareLive(t, policy, backfill, 4, nil) })
			})
			t.Run(policy+"+"+backfill.String()+" with maintenance", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					compareLive(t, policy, backfill, 4,
						[]sim.Window{{From: 500_000, To: 700_000}, {From: 1_000_000, To: 1_500_000}, {From: 3_000_000, To: 3_000_500}})
				})
			})
		}
	}
}

func compareLive(t *testing.T, policy string, backfill sched.Backfill, nodes int, windows []sim.Window) {
	w := spread(time.Now())
	w.Nodes = nodes
	shares := allocation.Default()
	shares.Sched.Root.Policy, shares.Sched.Backfill = policy, backfill
	simulated := shares.Sched
	simulated.HalfLife *= time.Second / tick
	simulated.TaskSeconds *= float64(time.Second / tick)
	r, err := sim.Run(w, sim.Options{Config: simulated, Seed: 3, Priority: shares.NormalPriority(), Bare: true,
		Windows: windows})
	if err != nil {
		t.Fatal(err)
	}
	checkApart(t, r)
	got := live(t, w, engine.LoopOptions{Shares: shares, Seed: 3}, windows, pace{tick: tick})
	for i, start := range r.Schedule.Start {
		for _, x := range windows {
			if start < x.To && r.End(i) > x.From {
				t.Fatalf("job %d runs from %d to %d, in the maintenance from %d to %d", i+1, start, r.End(i), x.From, x.To)
			}
		}
		if got[i] != start {
			t.Fatalf("job %d started at %d live and at %d in the simulation", i+1, got[i], start)
		}
	}
}

// spread returns a workload in which no two events happen in one second, because the live loop handles events
// one by one.
func spread(zero time.Time) *sim.Workload {
	w := &sim.Workload{Name: "spread", Procs: 8, Zero: zero, Users: []string{"u0", "u1", "u2"},
		Pools: []string{"u0", "u1", "u2"}}
	rng := rand.New(rand.NewPCG(5, 6))
	submit := int64(1)
	for i := range 90 {
		submit += 1 + rng.Int64N(100_000)
		user := int32(rng.IntN(3))
		run := 1 + rng.Int64N(250_000)
		w.Jobs = append(w.Jobs, sim.Job{
			ID: int64(i + 1), Submit: submit, Run: run, Estimate: run + 1 + rng.Int64N(100_000), Procs: 1 +
				int32(rng.IntN(8)), User: user, Pool: user,
		})
	}
	return w
}

func checkApart(t *testing.T, r *sim.Result) {
	t.Helper()
	seen := map[int64]bool{}
	for i, j := range r.Workload.Jobs {
		if end := r.End(i); seen[j.Submit] || seen[end] || end == j.Submit {
			t.Fatalf("two things happen at %d or %d: draw another workload", j.Submit, end)
		}
		seen[j.Submit], seen[r.End(i)] = true, true
	}
}

// pace says how a live loop follows the clock of a workload: how long one simulated second takes, and how far apart the
// events of jobs are that happen in the same second.
type pace struct{ tick, apart time.Duration }

// submit is the instant at which a job is submitted.
func (p pace) submit(w *sim.Workload, i int) time.Time {
	return w.Zero.Add(time.Duration(w.Jobs[i].Submit)*p.tick + time.Duration(i)*p.apart)
}

// run is the time for which a job runs. Later jobs run slightly shorter, so that none exceeds its time limit.
func (p pace) run(w *sim.Workload, i int) time.Duration {
	return time.Duration(w.Jobs[i].Run)*p.tick - 10*time.Duration(i)*p.apart
}

// live runs the workload in the loop of a server and returns the starts.
func live(t *testing.T, w *sim.Workload, o engine.LoopOptions, windows []sim.Window, p pace) []int64 {
	ctx, cancel := context.WithCancel(t.Context())
	loop, err := engine.NewLoop(ctx, memory.New("cpu"), o)
	if err != nil {
		t.Fatal(err)
	}
	starts := make([]int64, len(w.Jobs))
	var mu sync.Mutex
	work := func(ctx context.Context, l *queue.Lease) error {
		i := l.JobID - 1
		mu.Lock()
		starts[i] = int64(time.Since(w.Zero).Round(p.tick) / p.tick)
		mu.Unlock()
		time.Sleep(p.run(w, int(i)))
		return nil
	}
	var group sync.WaitGroup
	group.Go(func() { loop.Run(ctx) })
	var names []string
	for i := range w.Nodes {
		names = append(names, fmt.Sprint("n", i+1))
		group.Go(func() {
			loop.Work(ctx, engine.WorkOptions{Name: names[i], Slots: w.Procs / w.Nodes,
				Handlers: map[string]engine.Handler{"work": engine.HandlerFunc(work)}})
		})
		synctest.Wait()
	}
	for i, x := range windows {
		at := func(second int64) time.Time { return w.Zero.Add(time.Duration(second) * p.tick) }
		r := engine.Reservation{Name: fmt.Sprint("w", i), Nodes: names, From: at(x.From), Until: at(x.To), Maintenance: true}
		if _, _, err := loop.Overrides.Reserve(ctx, r, engine.ReserveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, j := range w.Jobs {
		time.Sleep(time.Until(p.submit(w, i)))
		size := int32(w.Procs / w.Nodes)
		gang := (j.Procs + size - 1) / size
		var limit time.Duration
		if !j.NoLimit {
			limit = time.Duration(j.Estimate) * p.tick
		}
		_, err := loop.Client().Submit(ctx, queue.Job{
			Kind: "work", User: w.Users[j.User], Name: fmt.Sprint(j.ID), Limit: limit,
			Request: queue.Amounts{"cpu": int64((j.Procs + gang - 1) / gang)}, Gang: int(gang), Spread: gang > 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	}
	time.Sleep(24 * time.Hour)
	cancel()
	group.Wait()
	return starts
}
