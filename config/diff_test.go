package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func diffText(old, new *Config) (lines []string) {
	for _, d := range Diff(old, new) {
		line := fmt.Sprintf("%s: %s -> %s", d.Path, d.Old, d.New)
		if d.Later {
			line += " later"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestDiff(t *testing.T) {
	for _, x := range []struct{ name, old, new, want string }{
		{"nothing", "pools: {a: {weight: 2}}", "pools:\n  a: {weight: 2.0} # two\n", ""},
		{"a default written out", "{}", "half_life: 7d", ""},
		{"a value", "pools: {a: {weight: 2}}", "pools: {a: {weight: 3}}", "pools.a.weight: 2 -> 3"},
		{"another default", "{}", "half_life: 1d", "half_life: 7d -> 1d"},
		{"a maximum", "pools: {b: {pools: {e: {}}}}", "pools: {b: {pools: {e: {max: {cpu: 40}}}}}",
			"pools.b/e.max:  -> {cpu: 40}"},
		{"inside a maximum", "pools: {b: {max: {cpu: 4, gpu: 1}}}", "pools: {b: {max: {cpu: 8, gpu: 1}}}",
			"pools.b.max.cpu: 4 -> 8"},
		{"a pool with pools", "pools: {a: {}}", "pools: {a: {}, b: {weight: 3, pools: {x: {}, y: {weight: 2}}}}",
			"pools.b:  -> {weight: 3}\npools.b/x:  -> {weight: 1}\npools.b/y:  -> {weight: 2}"},
		{"a pool less", "pools: {a: {}, b.c: {weight: 2}}", "pools: {a: {}}", `pools."b.c": {weight: 2} -> `},
		{"all pools", "{}", "pools: {a: {}}\npools_on_demand: true", "pools.a:  -> {weight: 1}"},
		{"a rule between", "placement: [{requestor: a, pool: a}, {pool: z}]",
			"placement: [{requestor: a, pool: a}, {requestor: b, pool: b}, {pool: z}]",
			"placement.2:  -> {requestor: b, pool: b}"},
		{"another rule", "placement: [{requestor: a, pool: a}, {pool: z}]", "placement: [{requestor: a, pool: b}, {pool: z}]",
			"placement.1: {requestor: a, pool: a} -> {requestor: a, pool: b}"},
		{"rules less", "placement: [{requestor: a, pool: a}, {requestor: b, pool: b}, {pool: z}]", "placement: [{pool: z}]",
			"placement.1: {requestor: a, pool: a} -> \nplacement.2: {requestor: b, pool: b} -> "},
		{"with the next start", "{}", "server: {lease: 2m}", "server.lease: "},
	} {
		got := strings.Join(diffText(parsed(t, x.old), parsed(t, x.new)), "\n")
		if x.name == "with the next start" {
			if !strings.HasPrefix(got, x.want) || !strings.HasSuffix(got, " later") {
				t.Errorf("%s: got %s", x.name, got)
			}
			continue
		}
		if got != x.want {
			t.Errorf("%s: got\n%s\nwant\n%s", x.name, got, x.want)
		}
	}
}

// TestDiffBothWays: the difference in the other direction has every change reversed. Settings that override a file turn
// it into the other file.
func TestDiffBothWays(t *testing.T) {
	a := parsed(t, "pools: {x: {weight: 2, pools: {p: {}, q: {max_running: 3}}}, y: {}}\nplacement: [{requestor: r, pool: y}]")
	b := parsed(t, "pools: {x: {weight: 2, pools: {q: {max_running: 4}}}, y: {weight: 5}, z: {}}\nhalf_life: 2d\nplacement: [{requestor: r, pool: y}, {pool: z}]")
	there, back := Diff(a, b), Diff(b, a)
	if len(there) != 6 || len(back) != len(there) {
		t.Fatalf("there %v, back %v", there, back)
	}
	for _, d := range there {
		if !slices.Contains(back, Difference{Path: d.Path, Old: d.New, New: d.Old, Later: d.Later}) {
			t.Errorf("%+v has no counterpart", d)
		}
	}
	over, err := a.With([]Setting{{"pools.x/q.max_running", "4"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := Diff(a, over); len(got) != 1 || got[0].Path != "pools.x/q.max_running" || got[0].New != "4" {
		t.Errorf("got %v", got)
	}
}
