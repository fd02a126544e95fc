package config

import (
	"cmp"
	"fmt"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// overTargets collects pools whose minimum is above their load: rebalancing never brings them down to
// their load.
type overTargets struct {
	unit     string
	capacity int64
	out      []string
}

// overTargets returns the descriptions of such pools. The argument "capacity" is the total amount of all nodes.
func (c *Config) overTargets(capacity map[string]int64) []string {
	unit := cmp.Or(c.Shares.Sched.Unit, sched.DefaultUnit)
	o := overTargets{unit: unit, capacity: capacity[unit]}
	root := &c.Shares.Sched.Root
	o.below(root, "", root.Policy, root.Options, float64(capacity[unit]))
	return o.out
}

// below checks the pools below p, which divide "amount".
func (o *overTargets) below(p *share.Pool, path, policy string, options share.Options, amount float64) {
	sum := 0.0
	for i := range p.Pools {
		sum += p.Pools[i].Weight
	}
	if sum == 0 {
		return
	}
	for i := range p.Pools {
		k := &p.Pools[i]
		name, target := share.Join(path, k.Name), amount*k.Weight/sum
		if least := k.Min[o.unit]; policy == "load" && options.Rebalance.Threshold > 0 && float64(least) > target+1e-9 &&
			least <= o.capacity {
			o.out = append(o.out, fmt.Sprintf("%s is guaranteed %s %s, and its load is %.3g of them: "+
				"rebalancing never stops tasks that its minimum needs, so other pools do not get their full loads",
				name, showAmount(least).text, o.unit, target))
		}
		below, with := k.Policy, k.Options
		if below == "" {
			below, with = policy, options
		}
		o.below(k, name, below, with, target)
	}
}
