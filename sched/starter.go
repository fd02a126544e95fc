package sched

import "github.com/fairlead/fairlead/share"

// restart restarts the starter of a pool, if it has one, without changing its weight.
func (v *overrides) restart(id int32, had float64) {
	for _, slot := range v.boosts.of[id] {
		if v.boosts.slots[slot].Starter {
			v.drop(slot)
			break
		}
	}
	delete(v.boosts.spent, id)
	if b := v.starter(id, had); b.Factor > 0 && !b.over(v.site.at) {
		v.enter(b, id)
	} else if b.Usage > 0 && had >= b.Usage {
		v.spend(&boost{Boost: b, pool: id})
	}
}

// starter is the starter boost of a pool; its factor is 0 if there is none. Pools have one if they are created on
// demand below a pool that configures it.
func (v *overrides) starter(id int32, had float64) Boost {
	l := &v.tree.labels[id]
	if l.kind != named || id == int32(Root) || v.tree.pools[id].configured || l.name == share.DefaultPool {
		return Boost{}
	}
	of := v.tree.labels[v.tree.pools[id].parent].starter
	if of.Weight == 0 {
		return Boost{}
	}
	b := Boost{Pool: v.tree.Path(PoolID(id)), Factor: of.Weight, Usage: of.Usage, Had: had, Starter: true}
	if of.For > 0 {
		b.Until = l.first.Add(of.For)
	}
	return b
}

// restarters updates the starters after a new configuration: a pool keeps the rest of its starter, under the new
// numbers.
func (v *overrides) restarters() {
	had := map[int32]float64{}
	for id, spent := range v.boosts.spent {
		had[id] = spent
	}
	for slot := range v.boosts.slots {
		if b := &v.boosts.slots[slot]; b.Starter {
			had[b.pool] = v.had(b)
		}
	}
	for id := range v.tree.pools {
		if _, has := had[int32(id)]; has || v.starter(int32(id), 0).Factor > 0 {
			v.restart(int32(id), had[int32(id)])
		}
	}
	for id := range v.boosts.of {
		v.tree.pools[id].Weight = v.weightOf(id)
	}
}
