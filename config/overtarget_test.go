package config_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
)

// TestMinimumAboveLoad: if rebalancing should bring about the loads, a minimum above the load is reported.
func TestMinimumAboveLoad(t *testing.T) {
	const rebalance = "policy: load\nrebalance: {threshold: 20, min_duration: 1s}\n"
	for _, c := range []struct{ name, text, want string }{
		{"above", rebalance + "pools: {a: {load: 30%, min: {cpu: 8}}, b: {load: 70%}}\n",
			"a is guaranteed 8 cpu, and its load is 6 of"},
		{"at it", rebalance + "pools: {a: {load: 30%, min: {cpu: 6}}, b: {load: 70%}}\n", ""},
		{"no rebalancing", "policy: load\npools: {a: {load: 30%, min: {cpu: 8}}, b: {load: 70%}}\n", ""},
		{"another policy", "policy: fair\npools: {a: {weight: 3, min: {cpu: 8}}, b: {weight: 7}}\n", ""},
		{"inherited, below", rebalance + "pools:\n" +
			"  a: {load: 50%, pools: {x: {load: 10%, min: {cpu: 2}}, y: {load: 90%}}}\n  b: {load: 50%}\n",
			"a/x is guaranteed 2 cpu, and its load is 1 of"},
	} {
		cfg, err := config.Parse("x.yaml", []byte(c.text))
		if err != nil {
			t.Fatal(c.name, err)
		}
		got := strings.Join(cfg.Beyond(map[string]int64{"cpu": 20}), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
