package explain_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// TestMoreThanAPoolMayHave: a job that asks for more at once than its pool may ever have is refused, and the error
// names the maximum. If it is submitted nevertheless, why calls it impossible. The job beside it only waits, and its
// answer does not claim the same reason.
func TestMoreThanAPoolMayHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root = share.Pool{Policy: "fair", Pools: []share.Pool{
			{Name: "guests", Weight: 1, Max: map[string]int64{"cpu": 3}, JobRunning: 2},
			{Name: "closed", Weight: 1, Max: map[string]int64{"cpu": 0}},
		}}
		loop, stop := enginetest.StartNodes(t, o, []int{4, 4}, enginetest.Endless)
		defer stop()
		big := fairlead.Job{Kind: "work", User: "ann", Pool: "guests", Request: fairlead.Amounts{"cpu": 4}}
		for _, c := range []struct {
			job  fairlead.Job
			want string
		}{
			{big, "the job could never start: it asks for 4 cpu, and guests may have 3; " +
				"ask for 3 or less, or for another pool"},
			{fairlead.Job{User: "ann", Pool: "guests", Gang: 2, Spread: true, Request: fairlead.Amounts{"cpu": 2}},
				"it asks for 4 cpu at once, and guests may have 3; use -N 1, or ask for less"},
			{fairlead.Job{User: "ann", Pool: "guests", Gang: 3},
				"its 3 tasks start all at once, and guests may run 2; use -n 2"},
		} {
			out, err := loop.Intake.Submit(t.Context(), []fairlead.Job{c.job})
			if err != nil || out[0].Err == nil || !strings.Contains(out[0].Err.Error(), c.want) {
				t.Errorf("got %+v, %v, want %q", out, err, c.want)
			}
		}
		if out, err := loop.Intake.Submit(t.Context(), []fairlead.Job{{User: "ann", Pool: "closed"}}); err != nil ||
			out[0].Err != nil {
			t.Errorf("into a pool that is closed for a while: %+v, %v", out, err)
		}
		out, err := loop.Intake.SubmitAnyway(t.Context(), []fairlead.Job{big})
		if err != nil || out[0].Err != nil {
			t.Fatalf("nevertheless: %+v, %v", out, err)
		}
		three := fairlead.Job{User: "ann", Pool: "guests", Request: fairlead.Amounts{"cpu": 3}}
		first := enginetest.Submit(t, loop, three)[0]
		small := enginetest.Submit(t, loop, three)[0]
		time.Sleep(time.Second)
		a := ask(t, loop, out[0].ID)
		if a.Reason.Code != why.GateNever || a.Verdict != why.Impossible ||
			a.Reason.Text != "it asks for 4 cpu, and guests may have 3" || a.Start != nil {
			t.Errorf("why is %s, %+v", a.Verdict, a.Reason)
		}
		if a := ask(t, loop, first); a.Reason.Code != why.StateRunning {
			t.Errorf("the one that may start: %+v", a.Reason)
		}
		jobs := enginetest.Jobs(t, loop, out[0].ID, small)
		short := explain.New(loop).ShortReasons(t.Context(), jobs)
		if got := short[out[0].ID]; got.Code != why.GateNever || got.Rank != 0 {
			t.Errorf("in a list: %+v", got)
		}
		if got := short[small]; got.Code != why.GateMax {
			t.Errorf("what waits beside it: %+v", got)
		}
		jobs[0].Limit = 24 * time.Hour // it overlaps the maintenance, but stays impossible
		soon := engine.Reservation{Name: "service", Nodes: []string{"n0", "n1"}, From: time.Now().Add(time.Hour),
			Until: time.Now().Add(2 * time.Hour), Maintenance: true}
		if _, _, err := loop.Overrides.Reserve(t.Context(), soon, engine.ReserveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		if got := explain.New(loop).ShortReasons(t.Context(), jobs)[out[0].ID]; got.Code != why.GateNever {
			t.Errorf("before a maintenance: %+v", got)
		}
	})
}

// TestOnlyAwayNodes: if the nodes that a job or a gang needs are drained or down, the reason says so, with their names.
func TestOnlyAwayNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := enginetest.StartNodes(t, engine.LoopOptions{}, []int{8, 2}, enginetest.Endless)
		defer stop()
		if err := loop.Overrides.SetDrained(t.Context(), "n0", &engine.Drain{Reason: "fan (by root)"}, "", ""); err != nil {
			t.Fatal(err)
		}
		wide := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Request: fairlead.Amounts{"cpu": 4}})[0]
		gang := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Gang: 2, Spread: true})[0]
		for id, want := range map[int64]string{
			wide: "the only nodes that are large enough are drained or down: n0",
			gang: "its 2 tasks start all at once, each on a node of its own, " +
				"but there is room for only 1 while nodes are drained or down: n0",
		} {
			if a := ask(t, loop, id); a.Reason.Code != why.NoNodes || a.Reason.Text != want {
				t.Errorf("job %d: %+v, want %q", id, a.Reason, want)
			}
			jobs := enginetest.Jobs(t, loop, id)
			if got := explain.New(loop).ShortReasons(t.Context(), jobs)[id]; got.Text != want ||
				got.Rank != 0 {
				t.Errorf("job %d in a list: %+v", id, got)
			}
		}
	})
}

// TestDrainedNodesThatMatter: while no node takes tasks, the reason of a job names only the nodes that could run it,
// unless there are none.
func TestDrainedNodesThatMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := enginetest.StartNodes(t, engine.LoopOptions{}, []int{8, 2, 2}, enginetest.Endless)
		defer stop()
		for name, why := range map[string]string{"n0": "fan", "n1": "disk", "n2": "memory"} {
			if err := loop.Overrides.SetDrained(t.Context(), name, &engine.Drain{Reason: why, By: "root"}, "", ""); err != nil {
				t.Fatal(err)
			}
		}
		small, drained := "n1 is drained: disk (by root), n2 is drained: memory (by root)", "n0 is drained: fan (by root)"
		for cpu, want := range map[int64]string{
			1: "no node takes tasks: " + drained + ", " + small,
			4: "no node takes tasks; of the suitable nodes, " + drained,
			9: "no node takes tasks: " + drained + ", " + small,
		} {
			id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Request: fairlead.Amounts{"cpu": cpu}})[0]
			if a := ask(t, loop, id); !slices.ContainsFunc(append(a.Others, a.Reason), func(r why.Reason) bool {
				return r.Text == want
			}) {
				t.Errorf("%d cpu: %+v, want %q", cpu, a.Reason, want)
			}
		}
	})
}

// TestThePoolAboveTellsOfAJobInIt: the gates of an inner pool follow from the jobs below it, not from jobs of other
// pools.
func TestThePoolAboveTellsOfAJobInIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		loop, stop := enginetest.StartNodes(t, o, []int{4, 4}, enginetest.Endless)
		defer stop()
		enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: "physics/ann", Gang: 2, Spread: true,
			Request: fairlead.Amounts{"cpu": 4}})
		enginetest.Submit(t, loop, fairlead.Job{User: "bob", Pool: "guests/bob", Request: fairlead.Amounts{"cpu": 3}})
		time.Sleep(time.Second)
		a, err := explain.New(loop).WhyPool(t.Context(), "guests", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range a.Gates {
			if strings.Contains(g.Text, "at once") {
				t.Errorf("a gate of guests is %+v", g)
			}
		}
	})
}

// TestMemoryIsToldInWords: the memory in the reason has the unit in which it was requested.
func TestMemoryIsToldInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root = share.Pool{Policy: "fair", Max: map[string]int64{"mem": 3 << 30}}
		loop, stop := enginetest.Start(t, o, 4, enginetest.Endless)
		defer stop()
		id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Request: fairlead.Amounts{"mem": 2 << 30}})[0]
		out, err := loop.Intake.SubmitAnyway(t.Context(),
			[]fairlead.Job{{User: "ann", Request: fairlead.Amounts{"mem": 4 << 30}}})
		if err != nil {
			t.Fatal(err)
		}
		if text := ask(t, loop, id).Text(); !strings.Contains(text, "max mem of root 0/3G") {
			t.Errorf("what may start:\n%s", text)
		}
		if text := ask(t, loop, out[0].ID).Text(); !strings.Contains(text, "max mem of root 0/3G, it asks for 4G") {
			t.Errorf("what may not:\n%s", text)
		}
	})
}
