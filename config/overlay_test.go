package config_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
)

const base = `policy: fair
pools:
  c0: {load: 30%}
  c1: {load: 70%, pools: {x.y: {weight: 2}, z: {}}}
placement:
  - {requestor: "land.*", pool: c0}
  - {pool: c1}
`

func with(t *testing.T, settings ...string) (*config.Config, error) {
	t.Helper()
	c, err := config.Parse("fairlead.yaml", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	var all []config.Setting
	for _, text := range settings {
		s, err := config.SplitSetting(text)
		if err != nil {
			return nil, err
		}
		if s, err = c.Item(s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return c.With(all, false)
}

// TestFirstRule: if the file has no rules, the number after the last one is 1.
func TestFirstRule(t *testing.T) {
	c, err := config.Parse("fairlead.yaml", []byte("pools: {a: {}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Item(config.Setting{Path: "placement.1", Value: "{user: ann, pool: a}"})
	if err != nil || s.Path != "placement" {
		t.Fatalf("%+v, %v", s, err)
	}
	if c, err = c.With([]config.Setting{s}, false); err != nil || len(c.Rules) != 1 {
		t.Errorf("%v", err)
	}
	if _, err := c.Item(config.Setting{Path: "placement.3", Value: "{user: bob, pool: a}"}); err == nil {
		t.Error("a rule after the next one is taken")
	}
}

// TestSettings: settings override the file, and are read in the same way.
func TestSettings(t *testing.T) {
	c, err := with(t, "pools.c0.load=40%", "pools.c1.load=60%", "pools.c1/z.weight=5", `pools.c1.pools."x.y".weight = 7`,
		"rebalance={threshold: 20}", "rebalance.min_duration=9m", "placement.1={requestor: \"a=b\", pool: c1}", "half_life=")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"pools.c0.load": "40%", "pools.c1/z.weight": "5", `pools.c1/"x.y".weight`: "", "pools.c1/z": "{weight: 5}",
		"rebalance.min_duration": "9m", "rebalance.threshold": "20", "placement.1.pool": "c1", "half_life": "7d", "pools.c0.max": "",
		"task_time": "1m",
	} {
		if strings.Contains(path, `/"`) {
			continue
		}
		if got, err := c.Value(path); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", path, got, err, want)
		}
	}
	tree := c.Shares.Sched.Root
	if tree.Find("c0").Weight != 40 || tree.Find("c1/z").Weight != 5 || tree.Find("c1/x.y").Weight != 7 ||
		tree.Options.Rebalance.Threshold != 20 {
		t.Errorf("the tree is %+v", tree)
	}
	plain, _ := with(t)
	if plain.Shares.Hash == c.Shares.Hash || plain.Shares.Sched.Root.Find("c0").Weight != 30 {
		t.Error("the file itself changed, or the version did not")
	}
}

// TestSettingsAreChecked: the reader of the file checks settings, with the same messages.
func TestSettingsAreChecked(t *testing.T) {
	for setting, want := range map[string]string{
		"pools.c0.load=-1":          "set pools.c0.load=-1: load must be a percentage from 0% to 100%, got -1",
		"pools.c0.lod=3":            `did you mean "load"`,
		"pools.c2.load=3%":          `unknown pool "c2"`,
		"polcy=fair":                `unknown field "polcy"`,
		"policy=[":                  "the value cannot be read",
		"policy.x=1":                "policy is a single value",
		"placement.x=1":             "placement is a list",
		"placement.9={pool: c0}":    "the number must be from 1 to 3",
		"server.listen=x":           "change it in the file",
		"unit=gpu":                  "change it in the file",
		"pools.c0.weight=3":         "has both a weight and a load",
		"rebalance.min_duration=4m": "rebalance needs the field threshold",
		"rebalance.threshold=-5":    "threshold must be a number of percentage points, 0 or more, got -5",
		"pools":                     "expected PATH=VALUE",
		"pools..load=3":             "lacks a name",
		`pools."a.load=3`:           "expected PATH=VALUE",
		"placement.2={pool: zz}":    `unknown pool "zz"`,
	} {
		_, err := with(t, setting)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}

func TestSettingsAddPools(t *testing.T) {
	c, err := config.Parse("f", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.With([]config.Setting{{"pools.a/b.weight", "3"}}, true); err != nil ||
		c.Shares.Sched.Root.Find("a/b").Weight != 3 {
		t.Errorf("%v", err)
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		"pools.a.pools.b.pools.c.weight": "pools.a/b/c.weight", "pools.a/b.weight": "pools.a/b.weight",
		`pools."a.b".weight`: `pools."a.b".weight`, "pools.a.pools.b": "pools.a/b", "half_life": "half_life", "pools.a.pools": "pools.a.pools",
	} {
		if got, err := config.CleanPath(path); err != nil || got != want {
			t.Errorf("%s became %s, %v; want %s", path, got, err, want)
		}
		if again, err := config.CleanPath(want); err != nil || again != want {
			t.Errorf("%s became %s, %v", want, again, err)
		}
	}
}
