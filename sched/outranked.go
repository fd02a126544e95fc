package sched

import (
	"cmp"

	"github.com/fairlead/fairlead/why"
)

// outranked reports whether jobs that came later go before a job now, and always will.
func (v GateView) outranked(j *Job) (g why.Gate, passed bool) {
	for id := int32(v.s.growth.Leaf(*j)); id != int32(Root); id = v.s.tree.pools[id].parent {
		above := v.s.tree.pools[id].parent
		in := &v.s.tree.inners[v.s.tree.pools[above].inner]
		g = why.Gate{Where: cmp.Or(v.s.tree.Path(PoolID(v.s.tree.named(above))), "root")}
		if passes := v.firstAlways(j, id, in, &g); passes != nil && v.passers(j, above, noGate, &g, passes) {
			return g, true
		}
	}
	return g, false
}

// firstAlways returns a test for jobs that always go before a job by the policy of an inner pool, or nil. The
// argument id is the child on the path to the job.
func (v GateView) firstAlways(j *Job, id int32, in *inner, g *why.Gate) func(*passing) bool {
	_, arrival := in.policy.(byArrival)
	_, priority := in.policy.(byPriority)
	switch {
	case arrival || priority:
		g.Name = byRank
		return func(p *passing) bool { return int(p.ask.priority) < j.Priority && p.last > j.ID }
	case in.as.ranker != nil:
		g.Name = byFactors
		return func(p *passing) bool { return p.last > j.ID && v.aboveAlways(p, j) }
	case v.targetsNothing(in, id):
		g.Name = byTarget
		return func(p *passing) bool { return v.weighsBeside(p.leaf, in.id) && !v.s.tree.within(p.leaf, id) }
	case v.owesLicenses(in):
		g.Name = byLicenses
		return v.owedForLicenses(j, id, in, g)
	case v.s.tree.pools[id].Weight == 0 && v.s.tree.labels[id].kind == named:
		g.Name = byNoWeight
		return func(p *passing) bool { return v.weighsBeside(p.leaf, in.id) }
	}
	policy, _ := in.policy.(outlasting)
	if policy == nil {
		return nil
	}
	g.Name = byUnused
	at, waited := v.s.orders.setting(in), v.s.site.at.Sub(j.Submitted)
	return func(p *passing) bool {
		kid := v.childTo(p.leaf, in.id)
		return kid != id && policy.Outlasts(&v.s.tree.pools[kid], &v.s.tree.pools[id], waited, at)
	}
}

// owedForLicenses tests for jobs of other children that wait for a license, so that their pools stay behind their
// shares. They pass a job that waits for the same license, and any other job while their pool goes first.
func (v GateView) owedForLicenses(j *Job, id int32, in *inner, g *why.Gate) func(*passing) bool {
	at := v.s.orders.setting(in)
	first := func(kid int32) bool {
		pools := v.s.tree.pools
		return in.as.keyed.Terms(&pools[kid], at).Key < in.as.keyed.Terms(&pools[id], at).Key
	}
	mine := v.s.quotas.lackingFor(j.Key, v.s.site.atOnce(j.Key))
	return func(p *passing) bool {
		theirs := v.s.quotas.lackingFor(p.ask.key, v.s.site.atOnce(p.ask.key))
		if theirs == nil || v.s.tree.within(p.leaf, id) || theirs != mine && !first(v.childTo(p.leaf, in.id)) {
			return false
		}
		g.Limit = theirs.name
		return true
	}
}

// childTo is the child of a pool on the path to a leaf pool.
func (v GateView) childTo(leaf, above int32) int32 {
	for v.s.tree.pools[leaf].parent != above {
		leaf = v.s.tree.pools[leaf].parent
	}
	return leaf
}

// weighsBeside reports whether the path to a leaf pool leads through a child of the pool that has a weight.
func (v GateView) weighsBeside(leaf, above int32) bool {
	return v.s.tree.pools[v.childTo(leaf, above)].Weight > 0
}

// aboveAlways reports whether jobs go before another job regardless of their ages and of the usage of their pools.
func (v GateView) aboveAlways(p *passing, j *Job) bool {
	e, leaf := v.s.precedence, int32(v.s.growth.Leaf(*j))
	for _, id := range []int32{leaf, p.leaf} {
		if e.ranks.of[id].relative < 0 {
			e.value(id)
		}
	}
	theirs, mine := &e.ranks.of[p.leaf], &e.ranks.of[leaf]
	least := theirs.pool + theirs.assoc + e.commonPriority(p.ask.key, p.ask.class).sum
	most := mine.pool + mine.assoc + e.commonPriority(j.Key, j.Class).sum + e.ranks.full
	if v.s.tree.named(p.leaf) != v.s.tree.named(leaf) {
		most += e.ranks.exact(e.site.cfg.Multifactor.Fairshare)
	}
	return least > most
}

// targetsNothing reports whether an [Allotter], which divides whole slots, gives a child with a weight a target of
// 0, and the child runs no task.
func (v GateView) targetsNothing(in *inner, id int32) bool {
	if in.as.allot == nil || v.s.tree.pools[id].Weight == 0 || v.s.tree.pools[id].Tasks > 0 {
		return false
	}
	v.s.choice.retarget(in)
	return v.s.tree.pools[id].Target == 0
}

// owesLicenses reports whether a policy lets a pool fall further behind while a license keeps its jobs from
// starting. If no future room is planned, deficits do not count jobs that wait for licenses.
func (v GateView) owesLicenses(in *inner) bool {
	_, deficits := in.policy.(DeficitPolicy)
	return in.as.allot != nil || deficits && v.s.site.backfills()
}
