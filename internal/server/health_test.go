package server

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/ends"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
)

// TestJudgeFailures: a node that fails most of its tasks while others do not is named, and then a user whose tasks fail
// more than usual. Few failures, and a usual number of failures, are no reason for a warning.
func TestJudgeFailures(t *testing.T) {
	count := func(ended, failed int64) ends.Count { return ends.Count{Ended: ended, Failed: failed} }
	for _, c := range []struct {
		result, says string
		f            failures
	}{
		{"ok", "0 of 0 attempts failed in the last hour (the usual rate is not known yet)", failures{}},
		{"ok", "5 of 100 attempts failed in the last hour (usually 4.0%)", failures{
			nodes: map[string]ends.Count{"n1": count(50, 5), "n2": count(50, 0)}, before: count(1000, 40),
		}},
		{"ok", "19 of 19 attempts", failures{nodes: map[string]ends.Count{"n1": count(19, 19)}}},
		{"warn", "400 of 430 attempts failed on n1 in the last hour; on the other nodes 1.0% failed", failures{
			nodes: map[string]ends.Count{"n1": count(430, 400), "n2": count(100, 1)},
		}},
		{"warn", "180 of 200 attempts failed in the last hour (usually 2.0%), 170 of them of ann", failures{
			nodes: map[string]ends.Count{"n1": count(100, 90), "n2": count(100, 90)},
			users: map[string]map[string]ends.Count{
				"n1": {"ann": count(90, 90), "bob": count(10, 0)}, "n2": {"ann": count(80, 80), "bob": count(20, 10)},
			},
			before: count(1000, 20),
		}},
		{"ok", "2 of 9 attempts failed in the last hour (the usual rate is not known yet); without nodes that are", failures{
			nodes: map[string]ends.Count{"n1": count(9, 2)}, parted: true,
		}},
		{"ok", "90 of 100 attempts failed in the last hour (usually 85.0%)", failures{
			nodes: map[string]ends.Count{"n1": count(100, 90)}, before: count(1000, 850),
		}},
	} {
		expect(t, one(judgeFailures(c.f)), "failures", c.result, c.says)
	}
}

// TestTroubles: pages show the quick findings that are not ok, the worst first, and the first failure among the others.
// They do not show nodes that an administrator drained.
func TestTroubles(t *testing.T) {
	warn := func(name string) api.HealthCheck { return bad(name, api.ResultWarn, "", "") }
	fail := func(name string) api.HealthCheck { return bad(name, api.ResultFail, "", "") }
	for _, c := range []struct {
		quick, slow []api.HealthCheck
		want        []string
	}{
		{[]api.HealthCheck{good("disk", "")}, []api.HealthCheck{good("sums", ""), fail("disk")}, nil},
		{
			[]api.HealthCheck{warn("disk"), fail("bridges")}, []api.HealthCheck{warn("rights"), fail("sums"), fail("files")},
			[]string{"bridges", "sums", "disk"},
		},
		{[]api.HealthCheck{warn(drainedNodes)}, []api.HealthCheck{warn("rights")}, nil},
	} {
		var names []string
		for _, x := range troubles(c.quick, c.slow) {
			names = append(names, x.Name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%v, want %v", names, c.want)
		}
	}
}

// TestSilentNodes: a node whose agent has had no connection for some seconds is named with its tasks, until the agent
// is connected again or the node is lost.
func TestSilentNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p polls
		silent := func(state string) []string {
			n := ofAgent("n1", api.Facts{})
			n.State, n.Tasks, n.silent = state, 3, p.since()
			return silentNodes([]patient{n}, time.Now())
		}
		for _, step := range []struct {
			do     func()
			silent int
		}{
			{func() {}, 0},
			{p.begin, 0},
			{func() { time.Sleep(time.Minute) }, 0},
			{p.end, 0},
			{func() { time.Sleep(silentAfter) }, 1},
			{p.begin, 0},
			{p.begin, 0},
			{p.end, 0},
			{func() { time.Sleep(time.Minute) }, 0},
		} {
			step.do()
			if got := silent("up"); len(got) != step.silent || len(silent("down")) != 0 {
				t.Errorf("%v, want %d", got, step.silent)
			}
		}
		p.end()
		time.Sleep(silentAfter)
		want := "n1 since " + words.Clock(p.since(), time.Now()) + " (3 tasks there)"
		if got := silent("up"); !slices.Equal(got, []string{want}) {
			t.Errorf("%v, want %s", got, want)
		}
	})
}

// TestSilentBeforeItsFirstPoll: an agent that dies between joining and its first poll counts as silent, too.
func TestSilentBeforeItsFirstPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &session{id: "1", name: "n1"}
		newAgents().begin(x)
		n := patient{NodeView: views.NodeView{Name: "n1", State: "up"}, silent: x.silent()}
		if n.lostConnection(time.Now()) {
			t.Error("an agent that has just joined is silent")
		}
		time.Sleep(silentAfter)
		if !n.lostConnection(time.Now()) {
			t.Error("an agent that never polled is not silent")
		}
		x.polls.begin()
		if n.silent = x.silent(); n.lostConnection(time.Now()) {
			t.Error("an agent that polls is silent")
		}
	})
}

// TestWorkersAreNotSilent: a worker, which does not poll while it handles a job, is not called silent.
func TestWorkersAreNotSilent(t *testing.T) {
	for _, c := range []struct {
		x      *session
		silent bool
	}{
		{&session{}, true}, {&session{kinds: []string{"resize"}}, false}, {&session{bridge: true}, true},
	} {
		c.x.polls.begin()
		c.x.polls.end()
		if got := !c.x.silent().IsZero(); got != c.silent {
			t.Errorf("kinds %v, bridge %v: silent %v", c.x.kinds, c.x.bridge, got)
		}
	}
}

// TestFailingNodesAreNamed: a node that the server drained counts as failing, not as drained by an administrator.
func TestFailingNodesAreNamed(t *testing.T) {
	n := ofAgent("n1", api.Facts{})
	n.State, n.Drained, n.SetAside = "drain", true, true
	n.Why = "drained: it could not begin the last 3 tasks, of 3 users; the last error: no /scratch (by the server)"
	found := judgeNodes([]patient{n}, 12, nil)
	expect(t, found, "failing nodes", "warn", "n1 is drained: it could not begin the last 3 tasks")
	expect(t, found, "nodes", "fail", "0 of 1 take tasks, n1 is drained, and 12 tasks wait")
	if slices.ContainsFunc(found, func(c api.HealthCheck) bool { return c.Name == drainedNodes }) {
		t.Errorf("%+v", found)
	}
	n.SetAside, n.State, n.Tasks, n.Fault = false, "down", 3, &engine.Fault{}
	expect(t, judgeNodes([]patient{n}, 0, nil), "lost nodes", "warn", "n1 (3 tasks there)")
}

// TestPagesShowNodesOfNow: a page with all findings shows cached findings of the other checks, and fresh findings about
// nodes.
func TestPagesShowNodesOfNow(t *testing.T) {
	old := &api.Diagnosis{Result: api.ResultWarn, Checks: []api.HealthCheck{good("disk", "1T free"),
		good(allNodes, "1 of 2 take tasks"), bad(lostNodes, api.ResultWarn, "n1", "look"), good("users", "fine")}}
	now := withNodes(old, []api.HealthCheck{good(allNodes, "2 of 2 take tasks")})
	var names []string
	for _, c := range now.Checks {
		names = append(names, c.Name+": "+c.Text)
	}
	want := []string{"disk: 1T free", "nodes: 2 of 2 take tasks", "users: fine"}
	if !slices.Equal(names, want) || now.Result != api.ResultOK || len(old.Checks) != 4 {
		t.Errorf("%q is %s, want %q", names, now.Result, want)
	}
}
