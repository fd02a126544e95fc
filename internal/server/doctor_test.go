package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/sqlite"
)

// named returns the check of that name, or an empty one.
func named(checks []api.HealthCheck, name string) api.HealthCheck {
	for _, c := range checks {
		if c.Name == name {
			return c
		}
	}
	return api.HealthCheck{}
}

// expect fails if a check does not have this result, does not say this, or has a problem but names no next step.
func expect(t *testing.T, checks []api.HealthCheck, name, result, says string) {
	t.Helper()
	c := named(checks, name)
	if c.Result != result || !strings.Contains(c.Text, says) || (c.Next == "") != (c.Result == api.ResultOK || c.Result == "") {
		t.Errorf("%s: %s %q -> %q, want %s, %q", name, c.Result, c.Text, c.Next, result, says)
	}
}

// TestGrade: a value on a bound gets the worse grade, with upper and with lower bounds.
func TestGrade(t *testing.T) {
	for _, c := range []struct {
		value, warn, fail float64
		want              string
	}{
		{0.9, 1, 2, "ok"}, {1, 1, 2, "warn"}, {1.9, 1, 2, "warn"}, {2, 1, 2, "fail"},
		{11, 10, 5, "ok"}, {10, 10, 5, "warn"}, {5.1, 10, 5, "warn"}, {5, 10, 5, "fail"}, {0, 10, 5, "fail"},
	} {
		got := grade(api.HealthCheck{}, c.value, "s", c.warn, c.fail, "do this")
		if got.Result != c.want || *got.Value != c.value || *got.WarnAt != c.warn || *got.FailAt != c.fail || (got.Next != "") != (c.want != "ok") {
			t.Errorf("%v of %v, %v: %+v", c.value, c.warn, c.fail, got)
		}
	}
}

// TestJudgeStore: each kind of problem of a store is reported.
func TestJudgeStore(t *testing.T) {
	well := queue.StoreHealth{Format: 3, Known: 3, Bytes: 1 << 30, Unused: 0.1, Log: 1 << 20, Oldest: time.Second, Sessions: 5, MaxSessions: 100, Feed: 100, Reserve: true}
	if got := api.Worst(judgeStore(well)); got != api.ResultOK {
		t.Errorf("a store that is well is %s: %+v", got, judgeStore(well))
	}
	for _, c := range []struct {
		change             func(h *queue.StoreHealth)
		name, result, says string
	}{
		{func(h *queue.StoreHealth) { h.Format = 2 }, "tables", "fail", "format 2"},
		{func(h *queue.StoreHealth) { h.Unused = 0.7 }, "bloat", "warn", "70.0%"},
		{func(h *queue.StoreHealth) { h.Unused, h.Bytes = 0.7, 1<<20 }, "bloat", "ok", "70.0%"},
		{func(h *queue.StoreHealth) { h.Log = 1 << 30 }, "write-ahead log", "warn", "1G"},
		{func(h *queue.StoreHealth) { h.Oldest = time.Hour }, "open transactions", "warn", "1h0m0s"},
		{func(h *queue.StoreHealth) { h.Sessions = 99 }, "sessions", "fail", "99 of 100 sessions"},
		{func(h *queue.StoreHealth) { h.Feed = 3_000_000 }, "feed", "warn", "3000000"},
		{func(h *queue.StoreHealth) { h.Reserve = false }, "reserve", "warn", "no disk space"},
	} {
		h := well
		c.change(&h)
		expect(t, judgeStore(h), c.name, c.result, c.says)
	}
}

// TestJudgeSums: sums that differ from a recount are reported, but only a few of them.
func TestJudgeSums(t *testing.T) {
	wrong := []sched.Difference{{Pool: "physics", What: "running tasks", Kept: -3, Counted: 2}, {What: "free units", Kept: 1}}
	expect(t, []api.HealthCheck{judgeSums(engine.Recounted{})}, "sums", api.ResultOK, "agree")
	expect(t, []api.HealthCheck{judgeSums(engine.Recounted{Wrong: wrong})}, "sums", api.ResultFail, "running tasks of physics: kept -3, counted 2")
}

// ofAgent returns a node whose agent reported these facts.
func ofAgent(name string, f api.Facts) patient {
	n := patient{NodeView: views.NodeView{Name: name, State: "up", Version: "1", Capacity: queue.Amounts{"cpu": 4, "mem": 8 << 30}}, commands: true}
	f.FreeBytes, f.Dir = max(f.FreeBytes, 50<<20), "/var/lib/fairlead"
	if f.FreeBytes == 50<<20 {
		f.FreeBytes = 20 << 30
	}
	n.facts = facts{Facts: &f}
	return n
}

// TestJudgeAgents: each kind of problem of agents is reported.
func TestJudgeAgents(t *testing.T) {
	users := func(name string) patient { return ofAgent(name, api.Facts{Runs: "users", User: "root"}) }
	well := []patient{users("n1"), users("n2")}
	if got := checkAgents(well, "1", []string{"ann"}); api.Worst(got) != api.ResultOK {
		t.Errorf("agents that are well: %+v", got)
	}
	expect(t, checkAgents(well, "2", nil), "versions", "warn", "n1 1, n2 1")
	expect(t, checkAgents(well, "1", []string{"root"}), "rights", "warn", "jobs of root wait")
	late := users("n1")
	late.skew = 7 * time.Second
	expect(t, checkAgents([]patient{late}, "1", nil), "agents' clocks", "warn", "n1 by 7s")
	late.skew = -2 * time.Minute
	expect(t, checkAgents([]patient{late}, "1", nil), "agents' clocks", "fail", "n1 by -2m0s")
	own := ofAgent("n1", api.Facts{Runs: "own", User: "ann"})
	expect(t, checkAgents([]patient{own}, "1", []string{"ann"}), "rights", "ok", "1 agent")
	expect(t, checkAgents([]patient{own}, "1", []string{"ann", "bob"}), "rights", "warn", "jobs of bob wait")
	expect(t, checkAgents([]patient{users("n1"), ofAgent("n2", api.Facts{Runs: "users", User: "root", AllowRoot: true})}, "1", nil), "rights", "warn", "n2 run the jobs of root, n1 refuse")
	expect(t, checkAgents([]patient{ofAgent("n1", api.Facts{Runs: "any", User: "root", AllowRoot: true})}, "1", nil), "rights", "warn", "jobs of all users as root")
	expect(t, checkAgents([]patient{users("n1"), ofAgent("n2", api.Facts{FreeBytes: 60 << 20})}, "1", nil), "agents' disks", "fail", "n2: 60M free")
	expect(t, checkAgents([]patient{ofAgent("n2", api.Facts{Problem: "read-only"})}, "1", nil), "agents' disks", "fail", "n2: read-only")
	for says, f := range map[string]api.Facts{
		"n1 offers 8G of memory, but its control group is limited to 4G": {MaxMemory: 4 << 30}, "n1 offers 4 cpu, but its control group is limited to 2.0": {MaxCPUs: 2},
		"is limited to 100 processes": {MaxTasks: 100}, "is limited to 256 open files": {OpenFiles: 256},
	} {
		expect(t, checkAgents([]patient{ofAgent("n1", f)}, "1", nil), "agents' limits", "warn", says)
	}
}

// TestJudgeNodes: lost and drained nodes are named; if they are many, only some of them.
func TestJudgeNodes(t *testing.T) {
	expect(t, judgeNodes(nil, 0, nil), "nodes", "fail", "0 of 0")
	all := []patient{ofAgent("n1", api.Facts{})}
	expect(t, judgeNodes(all, 0, nil), "nodes", "ok", "1 of 1")
	for i := range 8 {
		n := ofAgent(fmt.Sprint("x", i), api.Facts{})
		n.State = "down"
		all = append(all, n)
	}
	n := ofAgent("y", api.Facts{})
	n.State, n.Why = "drain", "fan (by ann)"
	all = append(all, n)
	expect(t, judgeNodes(all, 0, nil), "lost nodes", "warn", "x0, x1, x2, x3, x4 and 3 more")
	expect(t, judgeNodes(all, 0, nil), "drained nodes", "warn", "y (fan (by ann))")
	all[9].Drained, all[9].Drain = true, &engine.Drain{Reason: "fan", By: "ann"}
	found := judgeNodes(all[1:], 7, nil)[0]
	if found.Text != "0 of 9 take tasks, y is drained: fan, and 7 tasks wait" ||
		found.Next != "when they are ready: fairlead resume NODE" {
		t.Errorf("if the only live node is drained: %+v", found)
	}
	all[9].State, all[9].Drained, all[9].Drain, all[9].Why = "maintenance", false, nil, "switch until 18:00"
	found = judgeNodes(all[9:], 0, nil)[0]
	if found.Text != "0 of 1 take tasks, y is in maintenance (switch until 18:00)" ||
		!strings.Contains(found.Next, "fairlead reserve") {
		t.Errorf("if the only node is in maintenance: %+v", found)
	}
	all[9].State = "down"
	if found = judgeNodes(all[9:], 0, nil)[0]; found.Next != "start an agent with: fairlead work" {
		t.Errorf("if the only node is down: %+v", found)
	}
	seen := time.Now()
	all[1].Seen, all[1].lostTasks = seen, 2
	expect(t, judgeNodes(all[:2], 0, nil), "lost nodes", "warn",
		"x0 since "+seen.Format(time.TimeOnly)+" (2 tasks lost)")
}

// deaf is an agent that gets tasks and never answers.
type deaf struct{}

func (deaf) Start([]*queue.Lease)     {}
func (deaf) Stop([]queue.Ref, string) {}

// TestLostTasks: the tasks that a node had when it was lost are counted.
func TestLostTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{LeaseTTL: 30 * time.Second, Shares: fairlead.DefaultShares()}
		loop, stop := enginetest.Start(t, o, 1, enginetest.Lasting)
		defer stop()
		capacity := queue.Amounts{"cpu": 4, queue.ExecResource: queue.AnyNumber}
		if _, err := loop.Join(t.Context(), "n1", capacity, engine.NodeInfo{}, deaf{}, nil); err != nil {
			t.Fatal(err)
		}
		wide := queue.Job{User: "ann", Argv: []string{"sleep", "60"}, Request: queue.Amounts{"cpu": 2}}
		enginetest.Submit(t, loop, wide, wide)
		lost := func() int {
			nodes := views.Nodes(loop)
			return engine.Read(loop, func(s *engine.State) int { return lostTasks(s, nodes)["n1"] })
		}
		time.Sleep(10 * time.Second)
		if got := lost(); got != 0 {
			t.Errorf("%d tasks are lost before the node is", got)
		}
		time.Sleep(5 * time.Minute)
		if got := lost(); got != 2 {
			t.Errorf("%d tasks were lost with the node, want 2", got)
		}
	})
}

// TestJudgePools: work in a pool without a share, or in a forgotten pool, is reported.
func TestJudgePools(t *testing.T) {
	pool := func(path string, depth int, weight float64, waiting int64, configured bool) views.PoolView {
		return views.PoolView{Path: path, Depth: depth, Weight: weight, Waiting: waiting, Configured: configured}
	}
	root, physics := pool("", 0, 1, 9, true), pool("physics", 1, 60, 9, true)
	for says, pools := range map[string][]views.PoolView{
		"2, and each pool":                {root, physics, pool("physics/ann", 2, 1, 9, false)},
		"filler has the weight 0":         {root, physics, pool("filler", 1, 0, 2, true)},
		"biology is not in the configura": {root, physics, pool("biology", 1, 1, 2, false)},
	} {
		want := api.ResultWarn
		if len(pools) == 3 && pools[2].Path == "physics/ann" {
			want = api.ResultOK
		}
		expect(t, []api.HealthCheck{judgePools(pools, nil)}, "pools", want, says)
	}
	starving := []explain.Starving{{Pool: "physics", Resource: "cpu", Running: 2, Goal: 4, Minimum: true, Since: time.Now().Add(-10 * time.Minute), Protected: 6, Unit: "cpu"}}
	expect(t, []api.HealthCheck{judgePools([]views.PoolView{root, physics}, starving)}, "pools", api.ResultWarn,
		"physics has had 2 cpu of its min of 4 for 10m, and nothing may be stopped for it: 6 cpu are held by tasks of pools with protect: true")
}

// TestJudgeBridges: a bridge that is away is a problem if its tasks need somebody to follow them, but not if it was
// drained first.
func TestJudgeBridges(t *testing.T) {
	now := time.Now()
	node := func(name, state string, drained bool, tasks int) patient {
		slurm := map[string]string{engine.BridgeLabel: "slurm"}
		return patient{NodeView: views.NodeView{Name: name, State: state, Drained: drained, Tasks: tasks, Labels: slurm}}
	}
	silent := func(tasks int) patient {
		n := node("a", "up", false, tasks)
		n.silent = now.Add(-silentAfter)
		if got := silentNodes([]patient{n}, now); got != nil {
			t.Errorf("a bridge is called a silent node: %v", got)
		}
		return n
	}
	for _, test := range []struct {
		nodes        []patient
		want         string
		says, advice string
	}{
		{[]patient{node("a", "up", false, 1), node("b", "drain", true, 1)}, api.ResultOK, "a, b connected", ""},
		{[]patient{node("a", "down", false, 1)}, api.ResultFail, "a down: ", "fairlead bridge slurm --name a; --check"},
		{[]patient{node("a", "down", true, 1), node("b", "down", true, 0)}, api.ResultFail, "a down: ", "fairlead bridge slurm --name a;"},
		{[]patient{node("a", "down", false, 0)}, api.ResultWarn, "a down, with no tasks", "fairlead drain --forget a"},
		{[]patient{node("a", "down", true, 0), node("b", "up", false, 0)}, api.ResultOK, "b connected; a drained and down", ""},
		{[]patient{silent(1)}, api.ResultFail, "a without a connection since ", "fairlead bridge slurm --name a; --check"},
		{[]patient{silent(0)}, api.ResultWarn, ", with no tasks", "fairlead drain --forget a"},
	} {
		checks := judgeBridges(test.nodes, now, nil)
		expect(t, checks, "bridges", test.want, test.says)
		if !strings.Contains(checks[0].Next, test.advice) || (test.advice == "") != (checks[0].Next == "") {
			t.Errorf("%s: next: %q", test.says, checks[0].Next)
		}
	}
	if checks := judgeBridges(nil, now, nil); checks != nil {
		t.Errorf("of no bridges: %+v", checks)
	}
}

// TestDoctor: a server reports problems of its database, its files, its bridges, its agents and the waiting jobs.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "jobs.db")
	ctx, cancel := context.WithCancel(context.Background())
	store, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{LeaseTTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{New(Options{Loop: loop, Store: store, Database: path, Program: "2", KeepHistory: true}), loop, t}
	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; store.Close() })
	ask := func() []api.HealthCheck {
		d.services.doctor.found.last.Store(nil)
		var found api.Diagnosis
		if status := d.send(ann, "GET", "/v1/doctor", nil, &found); status != 200 || found.Result != api.Worst(found.Checks) {
			t.Fatalf("status %d, %+v", status, found)
		}
		return found.Checks
	}
	checks := ask()
	for _, name := range []string{"database", "lag", "scheduling", "tables", "bloat", "counters", "sums", "disk", "sync", "history", "configuration", "files", "access", "pools", "waiting jobs"} {
		expect(t, checks, name, api.ResultOK, "")
	}
	expect(t, checks, "nodes", api.ResultFail, "0 of 0")
	join := api.JoinRequest{
		Capacity: map[string]int64{"cpu": 2}, Version: "1", Ledger: "one",
		Facts: &api.Facts{At: time.Now().Add(-time.Hour), Runs: "own", User: "bob", Dir: "/x", FreeBytes: 1},
	}
	if status := d.send(root, "POST", "/v1/agents/n1/join", join, nil); status != 200 {
		t.Fatalf("join: status %d", status)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := store.Set(ctx, ledgerSetting+"away", "two"); err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Intake.SubmitAnyway(ctx, []queue.Job{{User: "ann", Argv: []string{"true"}, Request: queue.Amounts{"cpu": 3}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Pulse(ctx); err != nil { // after this the loop knows the job
		t.Fatal(err)
	}
	checks = ask()
	expect(t, checks, "nodes", api.ResultOK, "1 of 1")
	expect(t, checks, "versions", api.ResultWarn, "n1 1")
	expect(t, checks, "agents' clocks", api.ResultFail, "n1 by 1h")
	expect(t, checks, "agents' disks", api.ResultFail, "n1")
	expect(t, checks, "rights", api.ResultWarn, "jobs of ann wait")
	expect(t, checks, "files", api.ResultFail, "can be read by users other than its owner")
	expect(t, checks, "bridges", api.ResultWarn, "down, with no tasks")
	expect(t, checks, "waiting jobs", api.ResultWarn, "1 job (fit.never, such as 1")
	store.Close()
	checks = ask()
	expect(t, checks, "database", api.ResultFail, "closed")
}

// TestJudgePlacement: doctor warns of first-fit where jobs have different widths, and only there.
func TestJudgePlacement(t *testing.T) {
	for _, c := range []struct {
		w            explain.Widths
		result, says string
	}{
		{explain.Widths{Backfill: sched.FirstFit, Resource: "cpu", Min: 1, Max: 64}, api.ResultWarn, "ask for 1 to 64 cpu"},
		{explain.Widths{Backfill: sched.FirstFit, Min: 2, Max: 2}, api.ResultOK, "first-fit, and all jobs"},
		{explain.Widths{Backfill: sched.FCFS, Resource: "cpu", Min: 1, Max: 64, Anew: "ml"}, api.ResultWarn,
			"the policy of ml chooses a new one"},
		{explain.Widths{Backfill: sched.FCFS, Min: 2, Max: 2, Anew: "ml"}, api.ResultOK, "fcfs lets no job pass"},
		{explain.Widths{Backfill: sched.FCFS, Resource: "cpu", Min: 1, Max: 64}, api.ResultOK, "fcfs lets no job pass"},
		{explain.Widths{Backfill: sched.EASY, Resource: "cpu", Min: 1, Max: 64}, api.ResultOK, "easy keeps room"},
	} {
		expect(t, []api.HealthCheck{judgeBackfill(c.w)}, "backfill", c.result, c.says)
	}
}

// TestJudgeNames: if the configuration has a name that no longer belongs to a user, doctor reports the name and the
// next step, and which users had a pool together.
func TestJudgeNames(t *testing.T) {
	expect(t, []api.HealthCheck{judgeNames(nil, nil)}, "pool names", api.ResultOK, "no two users share a pool by its name")
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	r := &poolnames.Report{At: at, Parted: []poolnames.Parted{{Pool: "a_b", Users: []string{"a b", "a/b"}}}}
	expect(t, []api.HealthCheck{judgeNames(nil, r)}, "pool names", api.ResultOK, `a_b had jobs of "a b", "a/b" until 2026-05-04; now each user has a pool of their own`)
	stale := []engine.StaleName{{Pool: "cust_42", User: "cust:42", Own: "cust=3A42"}}
	c := judgeNames(stale, r)
	expect(t, []api.HealthCheck{c}, "pool names", api.ResultWarn, `the configuration names cust_42, but jobs of the user "cust:42" go to cust=3A42`)
	if want := "add cust=3A42 to the configuration: instead of cust_42, or beside it if other users use that pool"; c.Next != want {
		t.Errorf("next is %q, want %q", c.Next, want)
	}
}
