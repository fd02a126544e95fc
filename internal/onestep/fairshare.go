package onestep

import (
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// fairShares adds to the leaves under fairtree their fair shares, by their rank in their whole tree.
func (r *Result) fairShares(core *sched.Scheduler) {
	for i := range core.Read().Pools() {
		id := sched.PoolID(i)
		tree, ok := core.Read().Policy(id).(policy.Fairtree)
		if _, above := core.Read().Policy(core.Read().Parent(id)).(policy.Fairtree); !ok || above && id != sched.Root {
			continue
		}
		leaves := map[sched.PoolID]*policy.Association{}
		policy.FairShares(associations(core, id, leaves), !tree.Merges())
		for leaf, a := range leaves {
			if x := r.Pools[core.Path(leaf)]; x != nil && x.Terms != nil {
				x.Terms["fairshare"] = why.Number(a.FairShare)
			}
		}
	}
}

// associations returns the pools below a pool, as far down as fairtree divides.
func associations(core *sched.Scheduler, id sched.PoolID,
	leaves map[sched.PoolID]*policy.Association) []*policy.Association {
	var all []*policy.Association
	for _, kid := range core.Read().Children(id) {
		p := core.View(kid)
		a := &policy.Association{Weight: p.Weight, Used: p.Service(core.Read().Now())}
		if _, ok := core.Read().Policy(kid).(policy.Fairtree); ok && p.Divides() {
			a.Kids = associations(core, kid, leaves)
		} else {
			leaves[kid] = a
		}
		all = append(all, a)
	}
	return all
}
