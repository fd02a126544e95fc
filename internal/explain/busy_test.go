package explain_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// cpus returns a job of a user with a request, a time limit (0: none) and a run time.
func cpus(user string, n int64, limit time.Duration, runs string) queue.Job {
	return fairlead.Job{User: user, Request: fairlead.Amounts{"cpu": n}, Limit: limit, Payload: []byte(runs)}
}

// shortOf returns the reason that lists show for a job.
func shortOf(t *testing.T, loop *engine.Loop, id int64) explain.ShortReason {
	t.Helper()
	return explain.New(loop).ShortReasons(t.Context(), enginetest.Jobs(t, loop, id))[id]
}

// TestMaintenanceIsNoReasonWhileNodesAreBusy: a job overlaps a maintenance, but waits because no node has room. As long
// as no node has room, it is not told to ask for a shorter limit.
func TestMaintenanceIsNoReasonWhileNodesAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 4, enginetest.Lasting)
		defer stop()
		enginetest.Submit(t, loop, cpus("ann", 4, 10*time.Minute, "3m"))
		time.Sleep(time.Second)
		id := enginetest.Submit(t, loop, cpus("bob", 4, 20*time.Minute, "1m"))[0]
		at := time.Now()
		if _, _, err := loop.Overrides.Reserve(t.Context(), engine.Reservation{Name: "service", Nodes: []string{"local"},
			From: at.Add(15 * time.Minute), Until: at.Add(20 * time.Minute), Maintenance: true},
			engine.ReserveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		a := ask(t, loop, id)
		if a.Reason.Code != why.CapacityFull || shortOf(t, loop, id).Code != why.CapacityFull {
			t.Errorf("while all is in use: %+v; in a list: %+v", a.Reason, shortOf(t, loop, id))
		}
		told := false
		for _, r := range a.Others {
			if told = told || r.Code == why.PolicyMaint; strings.Contains(r.Text, "ask for") {
				t.Errorf("advice that does not help now: %+v", r)
			}
		}
		if !told {
			t.Errorf("the maintenance is not told: %+v", a.Others)
		}
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if a = ask(t, loop, id); a.Reason.Code != why.PolicyMaint ||
			!strings.Contains(a.Reason.Text, "; ask for 10m or less") || shortOf(t, loop, id).Code != why.PolicyMaint {
			t.Errorf("while the node is free: %+v; in a list: %+v", a.Reason, shortOf(t, loop, id))
		}
	})
}

// TestJobWithHeldNodesWaitsForThem: nodes are held for a job, and another job goes first. The job is told that it waits
// for these nodes. It is not told that it waits for its turn, or that others can pass it.
func TestJobWithHeldNodesWaitsForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root, o.Shares.Sched.Backfill = share.Pool{Policy: "fair"}, sched.EASY
		o.Shares.Sched.Patience = time.Second
		loop, stop := start(t, o, 4, enginetest.Lasting)
		defer stop()
		for i := range 8 {
			enginetest.Submit(t, loop, cpus("ann", 1, 0, fmt.Sprint(10+i, "s")))
		}
		time.Sleep(time.Second)
		wide := enginetest.Submit(t, loop, cpus("bob", 4, 0, "1m"))[0]
		time.Sleep(12 * time.Second)
		high := cpus("bob", 1, 0, "1m")
		high.Priority = "high"
		enginetest.Submit(t, loop, high)
		time.Sleep(time.Second)
		synctest.Wait()
		a := ask(t, loop, wide)
		if a.Kept == nil || !a.Kept.Held || a.Rank == nil || a.Rank.Position < 2 {
			t.Fatalf("the job has rank %+v and the room %+v", a.Rank, a.Kept)
		}
		if want := "room on local is held for it, whichever job goes first; "; !strings.HasPrefix(a.Reason.Text, want) ||
			a.Reason.Next != "wait" || a.Verdict != why.AsDesigned {
			t.Errorf("the reason is %+v", a.Reason)
		}
	})
}

// TestListsTellOfKeptRoomUnderConservative: a job fits now, but the room there is planned for the job that goes first.
// Lists and the answer to why agree on that.
func TestListsTellOfKeptRoomUnderConservative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root, o.Shares.Sched.Backfill = share.Pool{Policy: "fairtree"}, sched.Conservative
		loop, stop := start(t, o, 4, enginetest.Lasting)
		defer stop()
		enginetest.Submit(t, loop, cpus("ann", 3, 10*time.Minute, "10m"))
		time.Sleep(time.Second)
		wide := enginetest.Submit(t, loop, cpus("bob", 4, 10*time.Minute, "10m"))[0]
		time.Sleep(time.Second)
		long := enginetest.Submit(t, loop, cpus("ann", 1, time.Hour, "1h"))[0]
		time.Sleep(time.Second)
		synctest.Wait()
		got := shortOf(t, loop, long)
		if a := ask(t, loop, long); a.Reason.Code != why.FitReserved || got.Code != a.Reason.Code ||
			!strings.HasPrefix(got.Text, fmt.Sprintf("room kept for job %d from ", wide)) {
			t.Errorf("why says %+v, a list %+v", a.Reason, got)
		}
	})
}

// TestNextStepsNameJobs: the next step of a job that is held, or waits for another job, can be typed unchanged.
func TestNextStepsNameJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 1, enginetest.Lasting)
		defer stop()
		j := cpus("ann", 1, 0, "1h")
		first := enginetest.Submit(t, loop, j)[0]
		j.Held = true
		held := enginetest.Submit(t, loop, j)[0]
		j.Held, j.After = false, []queue.Dependency{{Job: first}}
		after := enginetest.Submit(t, loop, j)[0]
		time.Sleep(time.Second)
		for id, want := range map[int64]string{
			held:  fmt.Sprintf("fairlead release %d", held),
			after: fmt.Sprintf("ask why job %d has not ended: fairlead why %d", first, first),
		} {
			if next := ask(t, loop, id).Reason.Next; !strings.HasSuffix(next, want) {
				t.Errorf("job %d: the next step is %q", id, next)
			}
		}
	})
}

// TestDrainedNodesTakeNoTurn: a gang that needs a drained node cannot start, so no job waits behind it: the job
// submitted after it is next, and the answer can be recomputed.
func TestDrainedNodesTakeNoTurn(t *testing.T) {
	for _, rule := range []sched.Backfill{sched.EASY, sched.Conservative} {
		synctest.Test(t, func(t *testing.T) {
			o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
			o.Shares.Sched.Root, o.Shares.Sched.Backfill = share.Pool{Policy: "fairtree"}, rule
			loop, stop := enginetest.StartNodes(t, o, []int{4, 4}, enginetest.Lasting)
			defer stop()
			enginetest.Submit(t, loop, cpus("ann", 4, 10*time.Minute, "10m"), cpus("ann", 4, 10*time.Minute, "10m"))
			time.Sleep(time.Second)
			gang := cpus("bob", 4, 5*time.Minute, "5m")
			gang.Gang, gang.Spread = 2, true
			wide := enginetest.Submit(t, loop, gang)[0]
			narrow := enginetest.Submit(t, loop, cpus("bob", 2, 5*time.Minute, "5m"))[0]
			for _, drain := range []*engine.Drain{{Reason: "fan", By: "root"}, nil} {
				drained := drain != nil
				if err := loop.Overrides.SetDrained(t.Context(), "n0", drain, "", ""); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				a, err := forecast.New(loop).Why(t.Context(), narrow, explain.WhyOptions{Evidence: true})
				if err != nil {
					t.Fatal(err)
				}
				if checks := replay.Verify(a, policy.Rule); !why.Verified(checks) {
					t.Errorf("%v, drained: %t: %+v", rule, drained, checks)
				}
				want := map[bool]int64{true: 1, false: 3}[drained]
				if list := shortOf(t, loop, narrow); a.Rank == nil || a.Rank.Position != want || list.Rank != want {
					t.Errorf("%v, drained: %t: rank %+v, %d in a list, want %d: %+v", rule, drained, a.Rank, list.Rank, want,
						a.Reason)
				}
				if list := shortOf(t, loop, wide); drained != (list.Rank == 0) {
					t.Errorf("%v, drained: %t: the gang has the rank %d", rule, drained, list.Rank)
				}
			}
		})
	}
}
