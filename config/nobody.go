package config

import (
	"slices"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/share"
)

// checkNobody warns of configured leaf pools into which only administrators may submit, because no placement rule leads
// there and access.pools does not open them. Without rules, each user's own pool is the pool of the user's name, which
// may be any. In a file without access and server the pools may be those of a program, which submits into all of them.
func (r *reader) checkNobody(root *node, c *Config) {
	errors, _ := r.found.count()
	everybody := slices.Contains(c.Shares.Access.Admin, access.Anything)
	if errors > 0 || c.Rules == nil || everybody || root.get("access") == nil && root.get("server") == nil {
		return
	}
	rules, err := share.NewPlacementRules(c.Rules)
	if err != nil {
		return // NewPlacementRules has reported the error before
	}
	r.closedLeaves(root, "", c, rules)
}

// closedLeaves is checkNobody for the pools below path, whose node is n.
func (r *reader) closedLeaves(n *node, path string, c *Config, rules *share.PlacementRules) {
	for _, e := range pairs(n.get("pools")) {
		below := share.Join(path, e.key.text)
		makes, above := rules.Reach(below)
		switch {
		case len(pairs(e.value.get("pools"))) > 0:
			r.closedLeaves(e.value, below, c, rules)
		case makes, above, below == share.DefaultPool, c.Shares.Sched.Root.Policy == "load":
		case !c.Shares.Access.Opens(below):
			r.warnf(e.key, "only administrators, and a user of this name, may submit into pool %s: no rule of placement leads"+
				" there. Add such a rule, or open it with access: {pools: {%s: {submit: [...]}}}", clip(below), clip(below))
		}
	}
}
