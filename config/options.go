package config

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/share"
)

// optionFields are the settings of a pool's policy, beside its name.
func optionFields[T any](at func(*T) *share.Options) []field {
	return []field{
		unless("exact", of("rounding", "", "Of the policy load: exact apportions by largest remainder, scoot rounds as Twitter's Scoot does.",
			left(choice("rounding", []string{"exact", "scoot"}, []string{"exact", "scoot"})), func(t *T) *string { return &at(t).Rounding })),
		unless("never", of("rebalance", "", "Of the policy load: when it stops tasks.",
			left(sub[share.Rebalance](&rebalanceTable)), func(t *T) *share.Rebalance { return &at(t).Rebalance })),
		unless("as documented", of("compat", "", "Of the policy fairtree: slurm ranks the users of accounts that tie as Slurm's program does, instead of as its documentation says.",
			left(choice("compat", []string{"slurm"}, []string{"slurm"})), func(t *T) *string { return &at(t).Compat })),
		unless("7 days by 0.7", of("decay", "", "Of the policy decay: how past use counts.",
			left(sub[share.Decay](&decayTable)), func(t *T) *share.Decay { return &at(t).Decay })),
	}
}

// percentagePoints is a number of percentage points.
var percentagePoints = numbers(object{"type": "number", "minimum": 0, "maximum": 1e9}, func(name string, v float64) error {
	if !(v >= 0 && v <= 1e9) {
		return fmt.Errorf("%s must be a number of percentage points, 0 or more, got %v", name, v)
	}
	return nil
})

// maxSpread is the distance between a pool of all the load that has nothing and one of
// none that has everything.
const maxSpread = 200

func rebalanceFields() []field {
	threshold := of("threshold", "", "Percentage points that must lie between the pool that is most above its load and the one that is most below. 0: never.",
		percentagePoints, func(x *share.Rebalance) *float64 { return &x.Threshold })
	threshold.must = true
	return []field{
		threshold,
		of("min_duration", "4m", "For how long it must be so. 0: never.",
			span(time.Second, "0"), func(x *share.Rebalance) *time.Duration { return &x.MinDuration }),
	}
}

func decayFields() []field {
	return []field{
		of("days", "7", "How many days count, today included.", whole(1, share.MaxDays), func(x *share.Decay) *int { return &x.Days }),
		of("factor", "0.7", "By how much each day counts less than the day after it.", fraction, func(x *share.Decay) *float64 { return &x.Factor }),
		of("half_life", "false", "Count by the half-life of the configuration instead of by days.", boolean, func(x *share.Decay) *bool { return &x.HalfLife }),
		of("scale_by_share", "false", "Multiply the use by the share.", boolean, func(x *share.Decay) *bool { return &x.ScaleByShare }),
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

// checkZero looks for pools with the weight 0 under policies that have to divide by it.
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

// poolsByName finds pools of one level by their names.
func poolsByName(pools []share.Pool) map[string]*share.Pool {
	all := make(map[string]*share.Pool, len(pools))
	for i := range pools {
		all[pools[i].Name] = &pools[i]
	}
	return all
}

// optionOf is the policy that reads a setting.
var optionOf = []struct{ option, policy string }{{"rounding", "load"}, {"rebalance", "load"}, {"compat", "fairtree"}, {"decay", "decay"}}

// options warns of settings that no policy reads: they belong to a pool that names the
// policy. scoot says whether the loads below are rounded so that 0% is never served.
func (f *futile) options(n *node, p *share.Pool, path string, scoot bool) {
	for _, x := range optionOf {
		at := n.key(x.option)
		switch v := n.get(x.option); {
		case v == nil || v.kind == nothing || p.Policy == x.policy:
		case path == "":
			f.warnf(at, "%s has no effect: it is of the policy %s, and that of the root is %s", x.option, x.policy, p.Policy)
		case p.Policy == "":
			f.warnf(at, "%s has no effect: pool %s names no policy; say policy: %s beside it", x.option, clip(path), x.policy)
		default:
			f.warnf(at, "%s has no effect: it is of the policy %s, and that of pool %s is %s", x.option, x.policy, clip(path), p.Policy)
		}
	}
	if p.Policy == "load" && p.Options.Rebalance.Threshold >= maxSpread {
		f.warnf(n.get("rebalance").get("threshold"), "nothing is ever stopped: pools cannot be more than %d points apart", maxSpread)
	}
	if p.Policy != "" {
		scoot = p.Policy == "load" && p.Options.Rounding == "scoot"
	}
	byName := poolsByName(p.Pools)
	for _, e := range pairs(n.get("pools")) {
		c := byName[e.key.text]
		if c == nil {
			continue
		}
		below := share.Join(path, c.Name)
		if v := e.value.get("load"); scoot && v.zero() {
			f.hintf(v, "pool %s is never served: its load is 0%%, and the rounding is scoot; rounding: exact serves it with what nobody else can use", clip(below))
		}
		f.options(e.value, c, below, scoot)
	}
}
