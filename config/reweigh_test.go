package config_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
)

// reweigh returns the text with other weights.
func reweigh(text string, weights map[string]float64) (string, error) {
	c, err := config.Parse("x.yaml", []byte(text))
	if err != nil {
		return "", err
	}
	return c.Reweigh(weights, func(name, text string) (*config.Config, error) { return config.Parse(name, []byte(text)) })
}

// TestReweigh: only the weight changes, whether the text states it or not.
func TestReweigh(t *testing.T) {
	for _, c := range []struct{ pool, before, after string }{
		{"a", "pools:\n  a: {weight: 2} # of the vote\n  b: {}\n", "pools:\n  a: {weight: 2.5} # of the vote\n  b: {}\n"},
		{"b", "pools:\n  a: {weight: 2}\n  b: {}\n", "pools:\n  a: {weight: 2}\n  b: {weight: 2.5}\n"},
		{"a", "pools: {a: {max: {slots: 3}}, b: }\n", "pools: {a: {weight: 2.5, max: {slots: 3}}, b: }\n"},
		{"b", "pools: {a: , b: }\n", "pools: {a: , b: {weight: 2.5} }\n"},
		{"a/é", "pools:\n  a:\n    pools:\n      é:   # the first\n      ö:\n",
			"pools:\n  a:\n    pools:\n      é: {weight: 2.5}   # the first\n      ö:\n"},
		{"a", "pools:\n  a:\n    # by hand\n    max: {slots: 2}\n    weight: 7\n",
			"pools:\n  a:\n    # by hand\n    max: {slots: 2}\n    weight: 2.5\n"},
		{"a", "pools:\n  a:\n    # by hand\n    max: {slots: 2}\n",
			"pools:\n  a:\n    # by hand\n    weight: 2.5\n    max: {slots: 2}\n"},
		{"a", `{"pools": {"a": {"weight": 2}}}` + "\n", `{"pools": {"a": {"weight": 2.5}}}` + "\n"},
	} {
		got, err := reweigh(c.before, map[string]float64{c.pool: 2.5})
		if err != nil || got != c.after {
			t.Errorf("%q becomes %q, want %q (%v)", c.before, got, c.after, err)
			continue
		}
		after, err := config.Parse("x.yaml", []byte(got))
		if err != nil {
			t.Errorf("%q: %v", got, err)
			continue
		}
		if v, err := after.Value("pools." + c.pool + ".weight"); v != "2.5" {
			t.Errorf("%q: the weight of %s is %q (%v)", got, c.pool, v, err)
		}
		if v, named := after.Weight(c.pool); v != 2.5 || !named {
			t.Errorf("%q: the text gives %s the weight %v (%v)", got, c.pool, v, named)
		}
	}
	both, err := reweigh("pools: {a: {weight: 1}, b: {weight: 10}}\n", map[string]float64{"a": 100, "b": 3})
	if want := "pools: {a: {weight: 100}, b: {weight: 3}}\n"; err != nil || both != want {
		t.Errorf("two on one line: %q (%v), want %q", both, err, want)
	}
}

// TestNotReweighed: if a weight cannot be changed alone, the error says so, and how to change it.
func TestNotReweighed(t *testing.T) {
	for pool, text := range map[string]string{
		"a":   "pools: {a: {share: 30%}, b: {share: 70%}}\n",
		"b":   "pools:\n  a: &x {weight: 2}\n  b: *x\n",
		"c":   "pools: {a: {weight: 2}}\n",
		"d":   "pools:\n  d: null\n",
		"e/f": "pools: {e: {weight: 1}}\n",
		"g":   "pools:\n  g: {weight: \"2\"}\n",
	} {
		got, err := reweigh(text, map[string]float64{pool: 5})
		if err == nil {
			if _, wrong := config.Parse("x.yaml", []byte(got)); wrong == nil {
				t.Errorf("%q becomes %q", text, got)
			}
			continue
		}
		if !strings.Contains(err.Error(), "edit the text") && !strings.Contains(err.Error(), "must be") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestReweighable checks that Reweighable knows this in advance.
func TestReweighable(t *testing.T) {
	c, err := config.Parse("x.yaml", []byte("pools: {a: {weight: 2}, b: }\n"))
	if err != nil {
		t.Fatal(err)
	}
	for pool, want := range map[string]bool{"a": true, "b": true, "c": false, "": false, "a/x": false} {
		if got := c.Reweighable(pool); got != want {
			t.Errorf("%q: %v", pool, got)
		}
	}
}
