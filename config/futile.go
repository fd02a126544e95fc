package config

import (
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/share"
)

// optionOf names the policy that reads each option.
var optionOf = []struct{ option, policy string }{{"rounding", "load"}, {"rebalance", "load"}, {"compat", "fairtree"},
	{"decay", "decay"}}

// options warns of options that no policy reads: an option belongs in the pool that names its policy. The flag "scoot"
// says whether the loads below are rounded so that a pool with 0% is never served.
func (f *futile) options(n *node, p *share.Pool, path string, scoot bool) {
	for _, x := range optionOf {
		at := n.key(x.option)
		switch v := n.get(x.option); {
		case v == nil || v.kind == nothing || p.Policy == x.policy:
		case path == "":
			f.warnf(at, "%s has no effect: it belongs to the policy %s, but the policy of the root is %s", x.option, x.policy, p.Policy)
		case p.Policy == "":
			f.warnf(at, "%s has no effect: pool %s names no policy; add policy: %s to the pool", x.option, clip(path), x.policy)
		default:
			f.warnf(at, "%s has no effect: it belongs to the policy %s, but the policy of pool %s is %s", x.option, x.policy, clip(path),
				p.Policy)
		}
	}
	if p.Policy == "load" && p.Options.Rebalance.Threshold >= maxSpread {
		f.warnf(n.get("rebalance").get("threshold"), "no task is ever stopped: pools cannot be more than %d points apart",
			maxSpread)
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
			f.hintf(v, "pool %s is never served: its load is 0%%, and the rounding is scoot; rounding: exact gives it what no other pool can use", clip(below))
		}
		f.options(e.value, c, below, scoot)
	}
}

// below checks the pools below p. The argument "above" is the reclaim setting that p inherits.
func (f *futile) below(n *node, p *share.Pool, above share.Reclaim) {
	byName := poolsByName(p.Pools)
	for _, e := range pairs(n.get("pools")) {
		c := byName[e.key.text]
		if c == nil {
			continue
		}
		set := c.Reclaim.Under(above)
		least, path := e.value.get("min"), share.Join(f.path, c.Name)
		if len(c.Min) > 0 {
			f.minima = true
			if set.MinAfter == 0 {
				if f.unheard = append(f.unheard, path); f.at == nil {
					f.at = least
				}
			}
			if v := e.value.get("load"); v.zero() {
				f.errorf(v, "pool %s has a min and the load 0%%, which gets only what no other pool can use; give it a load, or remove min", clip(path))
			}
		}
		f.policy(e.value, c, "pool "+clip(path))
		was := f.path
		f.path = path
		f.below(e.value, c, set)
		f.path = was
	}
}

// policy warns of policies that divide by past use although past use never decays.
func (f *futile) policy(n *node, p *share.Pool, who string) {
	if !f.forever {
		return
	}
	at := n.get("policy")
	switch {
	case p.Options.Decay.HalfLife:
		f.warnf(n.get("decay").get("half_life"),
			"%s counts use by the half-life, which is none: use from years ago counts like use from today. Set half_life, such as 7d", who)
	case p.Policy == "fairtree" || p.Policy == "multifactor":
		if at != nil {
			f.warnf(at, "%s divides by past use, but half_life is none: use from years ago counts like use from today. Set half_life, such as 7d", who)
		}
	}
}

// unread warns of settings that the policies above a pool do not read, such as weights under fifo. It also warns of
// pools whose own policy defeats the order of a multifactor policy above, because multifactor compares jobs and not
// pools. The argument "divides" is the policy of p. The argument "ranks" names the topmost pool above p with the policy
// multifactor, or is empty.
func (f *futile) unread(n *node, p *share.Pool, who, divides, ranks string) {
	if divides == "multifactor" && ranks == "" {
		ranks = who
	}
	byName := poolsByName(p.Pools)
	for _, e := range pairs(n.get("pools")) {
		c := byName[e.key.text]
		if c == nil {
			continue
		}
		was := f.path
		f.path = share.Join(f.path, c.Name)
		for _, word := range []string{"weight", "share", "load"} {
			if v := e.value.get(word); v != nil && divides == "fifo" && c.Weight != 1 {
				f.warnf(v, "%s has no effect on the order: %s has the policy fifo, which serves jobs by arrival. Remove it, or give %s a policy that uses it, such as policy: fair", word, who, who)
			}
		}
		if v := e.value.get("policy"); v != nil && ranks != "" && c.Policy != "multifactor" {
			f.warnf(v, "pool %s has its own policy %s below the multifactor of %s, so the job with the highest "+
				"priority may not start next. Remove policy from %[1]s, or give %[3]s another policy", clip(f.path), c.Policy, ranks)
		}
		below := c.Policy
		if below == "" {
			below = divides
		}
		f.unread(e.value, c, "pool "+clip(f.path), below, ranks)
		f.path = was
	}
}

// futile finds settings that never have an effect.
type futile struct {
	*reader
	c       *Config
	unheard []string // pools with a min for which no task is ever stopped
	at      *node    // pools with a min for which tasks are never stopped
	minima  bool     // some pool has a min
	forever bool     // past use never decays
}

// checkFutile warns of minima that may wait forever, and of settings without an effect.
func (r *reader) checkFutile(root *node, c *Config) {
	if errors, _ := r.found.count(); errors > 0 {
		return
	}
	f := &futile{reader: r, c: c, forever: c.Shares.Sched.HalfLife == 0}
	top := &c.Shares.Sched.Root
	f.policy(root, top, "the root")
	f.below(root, top, top.Reclaim)
	f.options(root, top, "", false)
	f.unread(root, top, "the root", top.Policy, "")
	switch n := root.get("reclaim").get("min_after"); {
	case f.at != nil:
		others := ""
		if n := len(f.unheard) - 1; n > 0 {
			others = " (and " + units.Plural(n, "other pool") + ")"
		}
		f.hintf(f.at, "the min of %s%s is served only when tasks of other pools end, and a task without a time limit may run forever."+
			" To stop such tasks, set reclaim: {min_after: 1m}; otherwise set min_after: off", clip(f.unheard[0]), others)
	case n != nil && top.Reclaim.MinAfter > 0 && !f.minima:
		f.warnf(n, "min_after has no effect: no pool has a min")
	}
}
