package sched

import (
	"cmp"
	"fmt"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// needOf is the amount of a resource that the tasks with a key that start together take.
func (v GateView) needOf(key cluster.Key, resource int) int64 {
	request := v.s.site.cluster.Request(key)
	if resource >= len(request) {
		return 0
	}
	return request[resource] * v.s.site.atOnce(key)
}

// less reports whether tasks with a key take some of a resource, but less than a job needs.
func (v GateView) less(key cluster.Key, resource int, need int64) bool {
	n := v.needOf(key, resource)
	return 0 < n && n < need
}

// passedInRoom reports whether smaller requests take the room that a job waits for, and no room is kept for the
// job.
func (v GateView) passedInRoom(j *Job) (g why.Gate, passed bool) {
	below := int32(Root)
	switch site := &v.s.site; {
	case v.s.site.cluster.Room(j.Key) || !v.s.site.cluster.Empty().Could(j.Key):
		return g, false
	case !site.strict && site.plans == plansNone:
		g.Name = byFirstFit
	case !site.strict && v.beyondHorizon(j):
		g.Name = byHorizon
	case site.strict:
		if below = v.chosenAnew(j); below < 0 {
			return g, false
		}
		g.Name, g.Where = byAnew, cmp.Or(v.s.tree.Path(PoolID(v.s.tree.named(below))), "root")
	default:
		return g, false
	}
	for r, n := range v.s.site.cluster.Request(j.Key) {
		if n == 0 || v.needOf(j.Key, r) == 1 || !v.lacks(j.Key, r) {
			continue // no request is smaller than one
		}
		need := v.needOf(j.Key, r)
		g.Limit, g.Need = v.s.site.cluster.Resource(r), fmt.Sprint(need)
		if v.passers(j, below, noGate, &g, func(p *passing) bool {
			return v.less(p.ask.key, r, need) && v.sameNode(p.ask.key, j.Key)
		}) {
			return g, true
		}
	}
	return g, false
}

// chosenAnew is the uppermost pool, on the path to a job, whose policy chooses a child regardless of earlier
// choices. Such a policy chooses by chance, or by the slots that the children lack now. It is -1 if there is
// none.
func (v GateView) chosenAnew(j *Job) int32 {
	anew := int32(-1)
	for id := int32(v.s.growth.Leaf(*j)); id != int32(Root); id = v.s.tree.pools[id].parent {
		above := v.s.tree.pools[id].parent
		in := &v.s.tree.inners[v.s.tree.pools[above].inner]
		if _, draws := in.policy.(Weigher); draws || in.as.allot != nil {
			anew = above
		}
	}
	return anew
}

// lacks reports whether some node that a job could run on has too little of a resource free. A gang may lack the
// resource although each of its tasks alone would find enough.
func (v GateView) lacks(key cluster.Key, resource int) bool {
	need := v.s.site.cluster.Request(key)[resource]
	for i, n := range v.s.site.cluster.Nodes() {
		if v.s.site.cluster.Empty().Suits(cluster.NodeID(i), key) && (resource >= len(n.Free) || n.Free[resource] < need) {
			return true
		}
	}
	return false
}

// sameNode reports whether some node could run tasks of both keys.
func (v GateView) sameNode(a, b cluster.Key) bool {
	for i := range v.s.site.cluster.Nodes() {
		id := cluster.NodeID(i)
		if v.s.site.cluster.Empty().Suits(id, a) && v.s.site.cluster.Empty().Suits(id, b) {
			return true
		}
	}
	return false
}

// beyondHorizon reports whether there is room for a job, but too late for it to be kept.
func (v GateView) beyondHorizon(j *Job) bool {
	if v.s.site.cfg.Window <= 0 || v.s.reserve.backfill.plan == nil || v.s.Read().keptOf(j.ID) != nil {
		return false
	}
	now, length := v.s.site.instantOf(), v.lengthOf(j)
	_, _, soon := v.s.reserve.paidFrom(j.Key, length, now, v.s.reserve.keepsBefore())
	_, _, ever := v.s.reserve.paidFrom(j.Key, length, now, cluster.Forever)
	return !soon && ever
}

// passedForLicenses reports whether jobs that need fewer copies of a license take the copies that become free. If
// future room is planned, licenses are kept with it.
func (v GateView) passedForLicenses(j *Job) (g why.Gate, passed bool) {
	t := v.s.quotas.needsOf(j.Key)
	if t == nil || v.s.site.backfills() {
		return g, false
	}
	tasks := v.s.site.atOnce(j.Key)
	for _, need := range t.licenses {
		l := &v.s.quotas.licenses[need.license]
		n := tasks * need.n
		if l.used+n <= l.total || n > l.total {
			continue
		}
		g = why.Gate{Name: byUnkept, Where: v.s.site.cfg.Backfill.String(), Limit: l.name, Need: fmt.Sprint(n)}
		if v.passers(j, int32(Root), byLicense, &g, func(p *passing) bool {
			has := v.licensesOf(p.ask.key, need.license)
			return 0 < has && has < n
		}) {
			return g, true
		}
	}
	return g, false
}

// licensesOf is the number of a license that the tasks with a key that start together take.
func (v GateView) licensesOf(key cluster.Key, license int32) int64 {
	if t := v.s.quotas.needsOf(key); t != nil {
		for _, need := range t.licenses {
			if need.license == license {
				return need.n * v.s.site.atOnce(key)
			}
		}
	}
	return 0
}

// passedBelowMax reports whether smaller requests use up the room under the maximum of a pool on the path.
func (v GateView) passedBelowMax(j *Job) (g why.Gate, passed bool) {
	for id := int32(v.s.growth.Leaf(*j)); id >= 0; id = v.s.tree.pools[id].parent {
		l := v.s.tree.limits(id)
		if l == nil {
			continue
		}
		for r, most := range l.max {
			n := v.needOf(j.Key, r)
			if most < 0 || n == 0 || n > most || l.used[r]+n <= most {
				continue
			}
			g = v.maximum(id, v.s.site.cluster.Resource(r), n)
			if v.passers(j, id, byMax, &g, func(p *passing) bool { return v.less(p.ask.key, r, n) }) {
				return g, true
			}
		}
		n := v.s.site.atOnce(j.Key)
		if l.tasks == 0 || n > int64(l.tasks) || int64(v.s.tree.pools[id].Tasks)+n <= int64(l.tasks) {
			continue
		}
		g = v.maximum(id, "tasks", n)
		if v.passers(j, id, byMax, &g, func(p *passing) bool { return v.s.site.atOnce(p.ask.key) < n }) {
			return g, true
		}
	}
	return g, false
}

// maximum is the gate of a maximum of a pool that leaves too little for a job.
func (v GateView) maximum(id int32, what string, need int64) why.Gate {
	return why.Gate{Name: byMaximum, Where: cmp.Or(v.s.tree.Path(PoolID(id)), "root"), Limit: what, Need: fmt.Sprint(need)}
}
