package config

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/share"
)

// Tables of the options of the policies load and decay.
var rebalanceTable, decayTable *table

// optionFields returns the options of a pool's policy.
func optionFields[T any](at func(*T) *share.Options) []field {
	return []field{
		unless("exact", of("rounding", "", "For the policy load: exact apportions by largest remainder, scoot rounds as Twitter's Scoot does.",
			left(choice("rounding", []string{"exact", "scoot"},
				[]string{"exact", "scoot"})), func(t *T) *string { return &at(t).Rounding })),
		unless("never", of("rebalance", "", "For the policy load: when it stops tasks.",
			left(sub[share.Rebalance](&rebalanceTable)), func(t *T) *share.Rebalance { return &at(t).Rebalance })),
		unless("as documented", of("compat", "",
			"For the policy fairtree: slurm ranks the users of tied accounts as Slurm's program does, not as its documentation says.",
			left(choice("compat", []string{"slurm"}, []string{"slurm"})), func(t *T) *string { return &at(t).Compat })),
		unless("7 days by 0.7", of("decay", "", "For the policy decay: how past use counts.",
			left(sub[share.Decay](&decayTable)), func(t *T) *share.Decay { return &at(t).Decay })),
	}
}

// percentagePoints is a number of percentage points.
var percentagePoints = numbers(object{"type": "number", "minimum": 0, "maximum": 1e9},
	func(name string, v float64) error {
		if !(v >= 0 && v <= 1e9) {
			return fmt.Errorf("%s must be a number of percentage points, 0 or more, got %v", name, v)
		}
		return nil
	})

// maxSpread is the largest distance between two pools in percentage points: a pool with 100% of the load runs nothing,
// and a pool with 0% runs everything.
const maxSpread = 200

func rebalanceFields() []field {
	threshold := of("threshold", "", "Tasks are stopped if the pool furthest above its load and the pool furthest below are further apart than this, in percentage points. 0: never.",
		percentagePoints, func(x *share.Rebalance) *float64 { return &x.Threshold })
	threshold.must = true
	return []field{
		threshold,
		of("min_duration", "4m", "The time for which the distance must last. 0: never.",
			span(time.Second, "0"), func(x *share.Rebalance) *time.Duration { return &x.MinDuration }),
	}
}

func decayFields() []field {
	return []field{
		of("days", "7", "The number of days that count, including today.", whole(1, share.MaxDays),
			func(x *share.Decay) *int { return &x.Days }),
		of("factor", "0.7", "The use of each day counts this fraction of the use of the day after it.", fraction,
			func(x *share.Decay) *float64 { return &x.Factor }),
		of("half_life", "false", "Use the half-life of the configuration instead of days.", boolean,
			func(x *share.Decay) *bool { return &x.HalfLife }),
		of("scale_by_share", "false", "Multiply the use by the share.", boolean,
			func(x *share.Decay) *bool { return &x.ScaleByShare }),
	}
}

// fraction is a number above 0 and at most 1.
var fraction = bounded(0, 1)

// zero reports whether a node that may be missing is the number 0, or 0%.
func (n *node) zero() bool {
	if n == nil || n.kind != scalar {
		return false
	}
	v, err := parsePercent(n.text)
	return err == nil && v == 0
}

// checkZero refuses the weight 0 in pools under a policy that divides by the weight.
func (r *reader) checkZero(n *node, p *share.Pool, above string) {
	name := above
	if p.Policy != "" {
		name = p.Policy
	}
	byName := poolsByName(p.Pools)
	for _, e := range pairs(n.get("pools")) {
		c := byName[e.key.text]
		if c == nil {
			continue
		}
		for _, word := range []string{"weight", "load"} {
			if v := e.value.get(word); v.zero() && !policy.Zero(name) {
				r.errorf(v, "%s must be > 0 under the policy %s, got %s", word, name, v.text)
			}
		}
		r.checkZero(e.value, c, name)
	}
}

// poolsByName maps the names of the pools of one level to the pools.
func poolsByName(pools []share.Pool) map[string]*share.Pool {
	all := make(map[string]*share.Pool, len(pools))
	for i := range pools {
		all[pools[i].Name] = &pools[i]
	}
	return all
}
