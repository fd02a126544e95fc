package config_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

func mustParse(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("fairlead.yaml", []byte(text))
	if err != nil {
		var found config.Problems
		errors.As(err, &found)
		t.Fatalf("%v\n%s", err, found.Text())
	}
	return c
}

// example returns a configuration with every field.
func example(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestParse(t *testing.T) {
	c := mustParse(t, example(t))
	s := c.Shares.Sched
	starving := share.Reclaim{MinAfter: time.Minute, ShareAfter: 10 * time.Minute, Below: 0.4}
	wantRoot := share.Pool{Policy: "fair", Reclaim: starving, Time: 2 * time.Hour, MaxTime: 7 * 24 * time.Hour,
		Pools: []share.Pool{
			{Name: "biology", Weight: 40, Policy: "lottery"},
			{
				Name: "physics", Weight: 60, Min: map[string]int64{"cpu": 8}, Max: map[string]int64{"cpu": 40, "mem": 4 << 30},
				Reclaim:    share.Reclaim{MinAfter: 30 * time.Second, ShareAfter: share.Never, Below: 0.6, Protect: true},
				MaxRunning: 100, JobRunning: 10, Time: share.Never, MaxTime: 48 * time.Hour, Policy: "fifo",
				Pools: []share.Pool{{Name: "curie", Weight: 1}, {Name: "markov", Weight: 1}},
			},
		}}
	wantServer := config.Server{
		Listen: []string{"127.0.0.1:7447"}, Anonymous: "metrics", Origins: []string{"http://cluster.example"}, Socket: "/run/fairlead/fairlead.sock", SocketMode: 0o660, SocketGroup: "lab", Database: "fairlead.db",
		LeaseTTL: time.Minute, Retention: 30 * 24 * time.Hour, LogLevel: slog.LevelInfo, LogFormat: "text",
		TLS: config.TLS{Listen: []string{}, Names: []string{}},
	}
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"root", s.Root, wantRoot},
		{"priorities", s.Priorities, sched.DefaultPriorities()},
		{"half_life", s.HalfLife, 7 * 24 * time.Hour},
		{"task_time", s.TaskSeconds, 60.0},
		{"unit", s.Unit, "cpu"},
		{"backfill", s.Backfill, sched.FirstFit},
		{"closed", c.Shares.Closed, false},
		{"reclaim", s.Reclaim, sched.Reclaim{Grace: 30 * time.Minute}},
		{"shortlist", c.Shortlist, config.Shortlist{Pools: 5, Jobs: 10}},
		{"licenses", c.Licenses, map[string]int64{"matlab": 5}},
		{"rates", c.Rates, map[string]config.Rate{"linkedin": {Rate: sched.Rate{Count: 5, Per: time.Second, Burst: 5}},
			"mail": {Rate: sched.Rate{Count: 100, Per: time.Minute, Burst: 10}, Kinds: []string{"mail"}}}},
		{"server", c.Server, wantServer},
		{"warnings", len(c.Problems), 0},
	} {
		if !reflect.DeepEqual(f.got, f.want) {
			t.Errorf("%s: got %+v, want %+v", f.name, f.got, f.want)
		}
	}
	path, _ := c.Shares.PlacementRules.Place(share.Origin{User: "ann", Requestor: "landing", Kind: "mail"})
	if path != "land" {
		t.Errorf("placed into %s, want land", path)
	}
}

// TestDefault compares the defaults of a configuration without a file with the values that the other packages assume.
func TestDefault(t *testing.T) {
	c := config.Default()
	if c.Shares.PlacementRules != nil || c.Shares.Closed || len(c.Problems) > 0 || len(c.Shares.Hash) != 8 {
		t.Errorf("got %+v", c)
	}
	if c.Shares.Sched.Root.Policy != "fair" || !reflect.DeepEqual(c.Shares.Sched.Priorities, sched.DefaultPriorities()) {
		t.Errorf("got %+v", c.Shares.Sched)
	}
	if _, err := sched.New(c.Shares.Sched, time.Unix(0, 0), 1); err != nil {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"", false}, {"pools: {}", false}, {"pools:", false}, {"pools: {a: {}}", true},
		{"pools: {a: {}}\npools_on_demand: true", false}, {"pools_on_demand: false", true},
	} {
		if got := mustParse(t, c.text).Shares.Closed; got != c.want {
			t.Errorf("%q: closed is %v, want %v", c.text, got, c.want)
		}
	}
}

// TestNothingRuns checks a limit of no tasks, which share.Pool cannot express.
func TestNothingRuns(t *testing.T) {
	p := mustParse(t, "unit: slots\npools: {a: {max_running: 0, max: {gpu: 3}}}").Shares.Sched.Root.Pools[0]
	want := map[string]int64{"slots": 0, "gpu": 3}
	if !reflect.DeepEqual(p.Max, want) || p.MaxRunning != 0 {
		t.Errorf("got %+v, want max %v", p, want)
	}
}

// TestSameSettings has pairs of files that mean the same in other words.
func TestSameSettings(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"", "{}"},
		{"", "---\nserver:\npools:\n..."},
		{"policy: fair\nhalf_life: 168h", "half_life: 1w # a week"},
		{"half_life: 0", "half_life: none"},
		{"pools: {a: {}, b: {weight: 2}}", "pools:\n  b:\n    weight: 2.0\n  a:"},
		{"pools: {a: {share: 30%}, b: {share: 70%}}", `{"pools": {"b": {"weight": 70}, "a": {"weight": 30}}}`},
		{"pools: {a: {min: {mem: 4G}}}", "pools: {a: {min: {mem: 4096M}}}"},
		{"pools: {a: {max_running: 0}}", "pools: {a: {max: {cpu: 0}}}"},
		{"placement: [{user: 'a', kind: b, pool: c}]", "placement:\n- kind: b\n  pool: \"c\"\n  user: a"},
		{"priorities: {b: 1, a: 2}", `{"priorities": {"a": 2, "b": 1}}`},
		{"server: {socket_mode: 0600}", "server:\n  socket_mode: '600'\n  listen: []\n  anonymous: nothing\n"},
		{"policy: fair\r\nhalf_life: 3d\r\n", "\ufeffpolicy: fair\nhalf_life: 3d"},
	} {
		if a, b := mustParse(t, c.a), mustParse(t, c.b); a.Shares.Hash != b.Shares.Hash {
			t.Errorf("%q and %q differ:\n%s\n%s", c.a, c.b, a.YAML(), b.YAML())
		}
	}
	for _, c := range []struct{ a, b string }{
		{"", "placement: []"}, {"", "half_life: 8d"}, {"", "server: {log_level: debug}"}, {"pools: {a: {}}",
			"pools: {b: {}}"},
		{"placement: [{user: a, pool: b}, {pool: c}]", "placement: [{user: b, pool: b}, {pool: c}]"}, {"",
			"licenses: {a: 1}"},
	} {
		if mustParse(t, c.a).Shares.Hash == mustParse(t, c.b).Shares.Hash {
			t.Errorf("%q and %q have the same hash", c.a, c.b)
		}
	}
}

func TestYAML(t *testing.T) {
	c := mustParse(t, example(t))
	golden.Check(t, "testdata/example.canonical.yaml", string(c.YAML()))
	again := mustParse(t, string(c.YAML()))
	if string(again.YAML()) != string(c.YAML()) || again.Shares.Hash != c.Shares.Hash {
		t.Errorf("read back it is\n%s", again.YAML())
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	if _, err := config.Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: got %v", err)
	}
	if _, err := config.Load(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
	if err := os.WriteFile(path, []byte("policy: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(path)
	if want := path + `:1:9: unknown policy "x"; known: ` + strings.Join(policy.Names(), ", "); err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := os.WriteFile(path, []byte("policy: fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(path); err != nil || c.Shares.Sched.Root.Policy != "fifo" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestProblems(t *testing.T) {
	_, err := config.Parse("f", []byte("a: 1\nb: 2\npolicy: 3\npools: {x: {min: {cpus: 1}}}"))
	var found config.Problems
	if !errors.As(err, &found) || len(found) != 4 {
		t.Fatalf("got %v", err)
	}
	if got := err.Error(); !strings.HasPrefix(got, `f:1:1: unknown field "a"`) ||
		!strings.HasSuffix(got, "(and 2 errors more)") {
		t.Errorf("got %s", got)
	}
	if got := found.Text(); !strings.HasSuffix(got, "\n3 errors, 1 warning\n") {
		t.Errorf("got %s", got)
	}
	if got := (config.Problems{}).Text(); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestMisspeltResources: a limit of a resource that nobody offers would do nothing.
func TestMisspeltResources(t *testing.T) {
	c, err := config.Parse("f", []byte("pools: {a: {max: {cpus: 4, tape: 1}}, b: {min: {memory: 4G}}, c: {max: {mem: 1G}}}"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Problems {
		got = append(got, p.Msg)
	}
	want := []string{
		`max cpus: agents do not offer "cpus" on their own - did you mean "cpu"?`,
		`min memory: agents do not offer "memory" on their own - did you mean "mem"?`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
