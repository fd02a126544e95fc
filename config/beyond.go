package config

import (
	"fmt"
	"maps"
	"slices"
)

// Beyond describes the minima that all nodes together cannot meet, and the minima above the loads that rebalancing aims
// at. It returns nothing if no node is known, because nodes may join later.
func (c *Config) Beyond(capacity map[string]int64) (out []string) {
	if len(capacity) == 0 {
		return nil
	}
	root := &c.Shares.Sched.Root
	alone := map[string]bool{}
	for path, p := range root.All() {
		for _, r := range slices.Sorted(maps.Keys(p.Min)) {
			if p.Min[r] > capacity[r] {
				alone[r] = true
				out = append(out, fmt.Sprintf("%s is guaranteed %s %s, but all nodes together have only %s",
					path, showAmount(p.Min[r]).text, r, showAmount(capacity[r]).text))
			}
		}
	}
	sum := below(root)
	for _, r := range slices.Sorted(maps.Keys(sum)) {
		if sum[r] > capacity[r] && !alone[r] {
			out = append(out, fmt.Sprintf("the minima of all pools add up to %s %s, but all nodes together have only %s: not all pools can get their min at once", showAmount(sum[r]).text, r, showAmount(capacity[r]).text))
		}
	}
	return append(out, c.overTargets(capacity)...)
}
