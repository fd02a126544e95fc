package engine_test

import (
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

// TestMoreThanAPoolMayHave: a job that asks for more at once than its pool may ever have is
// refused with what it may have. Submitted nevertheless it is told to be impossible, and the job
// beside it, which only waits, is not told that it was the same for it.
func TestMoreThanAPoolMayHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root = share.Pool{Policy: "fair", Pools: []share.Pool{
			{Name: "guests", Weight: 1, Max: map[string]int64{"cpu": 3}, JobRunning: 2}, {Name: "closed", Weight: 1, Max: map[string]int64{"cpu": 0}},
		}}
		l := newLab(t, o, 4, 4)
		defer l.end()
		big := fairlead.Job{Kind: "work", User: "ann", Pool: "guests", Request: fairlead.Amounts{"cpu": 4}}
		for _, c := range []struct {
			job  fairlead.Job
			want string
		}{
			{big, "the job could never start: it asks for 4 cpu, and guests may have 3; ask for 3 or less, or for another pool"},
			{fairlead.Job{User: "ann", Pool: "guests", Gang: 2, Spread: true, Request: fairlead.Amounts{"cpu": 2}}, "it asks for 4 cpu at once, and guests may have 3; use -N 1, or ask for less"},
			{fairlead.Job{User: "ann", Pool: "guests", Gang: 3}, "its 3 tasks start all at once, and guests may run 2; use -n 2"},
		} {
			out, err := l.Intake.Submit(t.Context(), []fairlead.Job{c.job})
			if err != nil || out[0].Err == nil || !strings.Contains(out[0].Err.Error(), c.want) {
				t.Errorf("got %+v, %v, want %q", out, err, c.want)
			}
		}
		if out, err := l.Intake.Submit(t.Context(), []fairlead.Job{{User: "ann", Pool: "closed"}}); err != nil || out[0].Err != nil {
			t.Errorf("into a pool that is closed for a while: %+v, %v", out, err)
		}
		out, err := l.Intake.SubmitAnyway(t.Context(), []fairlead.Job{big})
		if err != nil || out[0].Err != nil {
			t.Fatalf("nevertheless: %+v, %v", out, err)
		}
		three := fairlead.Job{User: "ann", Pool: "guests", Request: fairlead.Amounts{"cpu": 3}}
		first := enginetest.Submit(t, l.Loop, three)[0]
		small := enginetest.Submit(t, l.Loop, three)[0]
		time.Sleep(time.Second)
		a := ask(t, l.Loop, out[0].ID)
		if a.Reason.Code != why.GateNever || a.Verdict != why.Impossible || a.Reason.Text != "it asks for 4 cpu, and guests may have 3" || a.Start != nil {
			t.Errorf("why is %s, %+v", a.Verdict, a.Reason)
		}
		if a := ask(t, l.Loop, first); a.Reason.Code != why.StateRunning {
			t.Errorf("the one that may start: %+v", a.Reason)
		}
		var jobs []*fairlead.Job
		for _, id := range []int64{out[0].ID, small} {
			j, err := l.Client().Job(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, j)
		}
		short := explain.New(l.Loop).ShortReasons(t.Context(), jobs)
		if got := short[out[0].ID]; got.Code != why.GateNever || got.Rank != 0 {
			t.Errorf("in a list: %+v", got)
		}
		if got := short[small]; got.Code != why.GateMax {
			t.Errorf("what waits beside it: %+v", got)
		}
		jobs[0].Limit = 24 * time.Hour // which no maintenance makes more possible
		soon := engine.Reservation{Name: "service", Nodes: []string{"n0", "n1"}, From: time.Now().Add(time.Hour), Until: time.Now().Add(2 * time.Hour), Maintenance: true}
		if _, _, err := l.Overrides.Reserve(t.Context(), soon, engine.ReserveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		if got := explain.New(l.Loop).ShortReasons(t.Context(), jobs)[out[0].ID]; got.Code != why.GateNever {
			t.Errorf("before a maintenance: %+v", got)
		}
	})
}

// TestOnlyAwayNodes: where the nodes that a job needs are drained or down, that is said, with
// their names, of gangs too.
func TestOnlyAwayNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, engine.LoopOptions{}, 8, 2)
		defer l.end()
		if err := l.Overrides.SetDrained(t.Context(), "n0", true, "fan (by root)"); err != nil {
			t.Fatal(err)
		}
		wide := enginetest.Submit(t, l.Loop, fairlead.Job{User: "ann", Request: fairlead.Amounts{"cpu": 4}})[0]
		gang := l.gang(2)
		for id, want := range map[int64]string{
			wide: "the only nodes that are large enough are drained or down: n0",
			gang: "its 2 tasks start all at once, each on a node of its own, and there is room for 1 at most while nodes are drained or down: n0",
		} {
			if a := ask(t, l.Loop, id); a.Reason.Code != why.NoNodes || a.Reason.Text != want {
				t.Errorf("job %d: %+v, want %q", id, a.Reason, want)
			}
			j, err := l.Client().Job(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if got := explain.New(l.Loop).ShortReasons(t.Context(), []*fairlead.Job{j})[id]; got.Text != want || got.Rank != 0 {
				t.Errorf("job %d in a list: %+v", id, got)
			}
		}
	})
}

// TestNothingIsSoonerThanTheBegin: of a job that waits for the time at which it may begin, no
// change is told that lets it start before.
func TestNothingIsSoonerThanTheBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, one, began, stop := backfilled(t, share.Pool{Policy: "fifo"})
		defer stop()
		later := one(fairlead.Job{User: "bob", Limit: time.Hour, Begin: began.Add(3 * time.Hour)})
		a := ask(t, loop, later)
		if a.Reason.Code != why.GateBegin || a.Start == nil || a.Start.By == nil || len(a.Changes) > 0 {
			t.Errorf("%+v, changes %+v\n%s", a.Reason, a.Changes, a.Text())
		}
	})
}

// TestThePoolAboveTellsOfAJobInIt: what an inner pool is told to wait for is what a job below it
// asks for, not what any job of anybody does.
func TestThePoolAboveTellsOfAJobInIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, engine.LoopOptions{Shares: fairlead.DefaultShares()}, 4, 4)
		defer l.end()
		l.gang(2, func(j *fairlead.Job) { j.Pool, j.Request = "physics/ann", fairlead.Amounts{"cpu": 4} })
		enginetest.Submit(t, l.Loop, fairlead.Job{User: "bob", Pool: "guests/bob", Request: fairlead.Amounts{"cpu": 3}})
		time.Sleep(time.Second)
		a, err := explain.New(l.Loop).WhyPool(t.Context(), "guests", 0)
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

// TestMemoryIsToldInWords: what a pool has of its maximum is told as it was asked for.
func TestMemoryIsToldInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root = share.Pool{Policy: "fair", Max: map[string]int64{"mem": 3 << 30}}
		l := newLab(t, o, 4)
		defer l.end()
		id := enginetest.Submit(t, l.Loop, fairlead.Job{User: "ann", Request: fairlead.Amounts{"mem": 2 << 30}})[0]
		out, err := l.Intake.SubmitAnyway(t.Context(), []fairlead.Job{{User: "ann", Request: fairlead.Amounts{"mem": 4 << 30}}})
		if err != nil {
			t.Fatal(err)
		}
		if text := ask(t, l.Loop, id).Text(); !strings.Contains(text, "max mem of root 0/3G") {
			t.Errorf("what may start:\n%s", text)
		}
		if text := ask(t, l.Loop, out[0].ID).Text(); !strings.Contains(text, "max mem of root 0/3G, it asks for 4G") {
			t.Errorf("what may not:\n%s", text)
		}
	})
}
