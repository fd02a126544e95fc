package onestep_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/onestep"
)

func step(t *testing.T, cfg, state string) *onestep.Result {
	t.Helper()
	c, err := config.Parse("c.yaml", []byte(cfg))
	if err != nil {
		t.Fatal(err)
	}
	s, err := onestep.Read([]byte(state))
	if err != nil {
		t.Fatal(err)
	}
	r, err := onestep.Run(c.Shares, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUsedCountsAsItStands: the expected values are computed by hand. Tasks are assumed to last 10 s. Keys: a (120 +
// 2*10)/1 = 140, b (60 + 3*10)/3 = 30, c 200. All five idle slots go to b, whose key then is (60 + 8*10)/3 = 46.7.
func TestUsedCountsAsItStands(t *testing.T) {
	r := step(t, "{task_time: 10s, pools_on_demand: true, pools: {a: {weight: 1}, b: {weight: 3}}}",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 10}, "pools": {
		"a": {"running": 2, "waiting": 30, "used": 120}, "b": {"running": 3, "waiting": 5, "used": 60}, "c": {"waiting": 1, "used": 200}}}`)
	for pool, want := range map[string]struct {
		key   float64
		rank  int
		start int
		share float64
	}{"a": {140, 2, 0, 0.2}, "b": {30, 1, 5, 0.6}, "c": {200, 3, 0, 0.2}} {
		p := r.Pools[pool]
		if float64(p.Key) != want.key || p.Rank != want.rank || p.Start != want.start || p.Share != want.share {
			t.Errorf("%s: key %v rank %d start %d share %v, want %+v", pool, p.Key, p.Rank, p.Start, p.Share, want)
		}
	}
	if got := strings.Join(r.Order, " "); got != "b a c" || r.Idle != 5 {
		t.Errorf("order %s with %d idle", got, r.Idle)
	}
}

// TestOrderOfPoolsInTheFileChangesNothing checks that the order of the pools in a state does not matter: the
// state describes one instant.
func TestOrderOfPoolsInTheFileChangesNothing(t *testing.T) {
	const head = `{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 9}, "pools": {`
	a, b := `"a": {"running": 1, "waiting": 9, "used": 40}`, `"b": {"running": 2, "waiting": 9, "used": 10}`
	x := step(t, "{}", head+a+","+b+"}}")
	y := step(t, "{}", head+b+","+a+"}}")
	for _, p := range []string{"a", "b"} {
		if x.Pools[p].Key != y.Pools[p].Key || x.Pools[p].Start != y.Pools[p].Start {
			t.Errorf("%s: %+v against %+v", p, x.Pools[p], y.Pools[p])
		}
	}
}

// TestTasksOfAnInnerPool checks that a pool may have both tasks and children.
func TestTasksOfAnInnerPool(t *testing.T) {
	r := step(t, "{}", `{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 2}, "pools": {"a": {"waiting": 1}, "a/b": {"waiting": 1}}}`)
	if n := r.Pools["a"].Start + r.Pools["a/b"].Start; n < 2 {
		t.Errorf("%d started: %+v", n, r.Pools)
	}
}

// TestTimeLimitsOfPools checks that tasks without a time limit are planned by the default of their pool. The
// running tasks have an hour left, and then the wide job has its room: a task of an hour starts before it.
func TestTimeLimitsOfPools(t *testing.T) {
	const cfg = "{policy: fifo, backfill: easy, pools: {a: {time: 2h}, quick: {time: 1h}, slow: {time: 3h, max_time: 4h}}}"
	const state = `{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 4}, "pools": {
		"a": {"running": 2, "started": ["2026-01-05T07:00:00Z", "2026-01-05T07:00:00Z"], "jobs": [{"id": 1, "submitted": "2026-01-05T07:00:00Z", "request": {"slots": 4}}]},
		"slow": {"jobs": [{"id": 2, "submitted": "2026-01-05T07:10:00Z"}, {"id": 3, "submitted": "2026-01-05T07:20:00Z", "limit": "30"}]},
		"quick": {"waiting": 1, "jobs": [{"id": 4, "submitted": "2026-01-05T07:30:00Z", "limit": "LIMIT"}]}}}`
	r := step(t, cfg, strings.Replace(state, "LIMIT", "unlimited", 1))
	for _, j := range r.Jobs {
		if want := map[int64]int{3: 1}[j.ID]; j.Start != want {
			t.Errorf("job %d: %d starts, want %d", j.ID, j.Start, want)
		}
	}
	if got := r.Pools["quick"].Start; got != 1 {
		t.Errorf("of the pool with a default of an hour %d start", got)
	}
	c, err := config.Parse("c.yaml", []byte(cfg))
	if err != nil {
		t.Fatal(err)
	}
	s, err := onestep.Read([]byte(strings.NewReplacer(`"30"`, `"5h"`, "LIMIT", "1h").Replace(state)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := onestep.Run(c.Shares, s); err == nil ||
		!strings.Contains(err.Error(), "job 3: time limit: the job asks for 5h, and jobs in slow may have 4h at most") {
		t.Errorf("above the maximum: %v", err)
	}
}

// TestSizesAreReadAsInConfigurations checks memory in bytes, or with a unit, in the capacity and in the
// requests of tasks and jobs.
func TestSizesAreReadAsInConfigurations(t *testing.T) {
	r := step(t, "{unit: cpu, pools: {a: {max: {mem: 24G}}, b: {}}}", `{"now": "2026-01-05T08:00:00Z", "capacity": {"cpu": 64, "mem": "64G"}, "pools": {
		"a": {"running": 1, "waiting": 9, "request": {"cpu": 1, "mem": "8GiB"}},
		"b": {"jobs": [{"id": 1, "tasks": 9, "request": {"cpu": 1, "mem": 8589934592}}]}}}`)
	if a, b := r.Pools["a"].Start, r.Pools["b"].Start; a != 2 || b != 5 {
		t.Errorf("%d of a and %d of b start, want 2 and 5", a, b)
	}
	if got := r.Capacity["mem"]; got != 64<<30 {
		t.Errorf("the machine has %d bytes", got)
	}
}

func TestReadRefuses(t *testing.T) {
	for state, want := range map[string]string{
		``: "state",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 1}, "pools": {"a": {"weiting": 1}}}`:          "weiting",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": -1}, "pools": {}}`:                            "slots: -1 is negative",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"mem": "8 bits"}, "pools": {}}`:                        "line 1: mem: \"8 bits\" is not an amount such as 8, 512M or 4G",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"mem": "2P"}, "pools": {}}`:                            "mem: must be from 0 to 1125899906842624, got 2P",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"mem": null}, "pools": {}}`:                            "mem: \"null\" is not an amount",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"cpu": 1}, "pools": {"a": {"request": {"mem": 0.5}}}}`: "pool a: mem: 0.5 is not a whole number",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 1}, "pools": {"a": {"used": -1}}}`:            "0 or more",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 1}, "pools": {"a//b": {}}}`:                   "a//b",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 1}, "pools": {"a": {}, "a": {}}}`:             "twice",
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 1}, "pools": {"a": {}, "a/b": {}}} trailer`:   "after",
		`{"now": "x"}`:                              "state, line 1: \"x\" is not a time such as 2026-01-05T08:00:00Z",
		`{"seed": "x"}`:                             "state, line 1: seed: expected a whole number, got a text",
		`{"pools": {"a": {"running": 1.5}}}`:        "state, pool a: running: expected a whole number, got 1.5",
		"{\n\"capacity\": {\"slots\": 1}":           "state, line 2: not valid JSON: the text ends before its last bracket",
		"{\n\n\"seed\" 1}":                          "state, line 3: not valid JSON: invalid character '1' after object key",
		`{"pools": {"a": {"started": {"x": "y"}}}}`: "state, pool a: started: expected a list, as in [1, 2], got an object",
	} {
		if _, err := onestep.Read([]byte(state)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", state, err, want)
		}
	}
}

// TestPoolsOfUsers checks that a user name that is no valid pool name means the pool that this user has on a server.
func TestPoolsOfUsers(t *testing.T) {
	r := step(t, `{pools: {guests: {}}, placement: [{pool: "guests/{user}"}]}`,
		`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 1}, "pools": {"guests/a b": {"waiting": 1}}}`)
	if got := strings.Join(r.Order, " "); got != "guests/a=20b" {
		t.Errorf("the order is %s", got)
	}
	_, err := onestep.Read([]byte(`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 1},
		"pools": {"guests/a b": {}, "guests/a=20b": {}}}`))
	if err == nil || !strings.Contains(err.Error(), "pool guests/a=20b appears twice") {
		t.Errorf("two names of one pool: %v", err)
	}
}
