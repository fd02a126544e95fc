package sched

import (
	"math"

	"github.com/fairlead/fairlead/share"
)

// Entitlement is the share and the entitlement of a pool.
type Entitlement struct {
	Share float64 // of the cluster, when all pools that count are busy
	Here  float64 // the same, of the pool above
	// Now is the number of units that the ideal fluid scheduler would give it at this instant. It depends on
	// weights, minima, maxima and usable demand, not on the policy.
	Now float64
	// Demand is the number of units of its running and waiting tasks.
	Demand float64
}

// rounding is the largest rounding error of sums of parts.
const rounding = 1e-6

// entitle computes all entitlements.
func (f *filling) entitle() []Entitlement {
	e := f.e
	capacity, _, _ := divided(f.site, f.tree)
	f.bound(int32(Root))
	e[Root] = Entitlement{Share: 1, Here: 1, Now: math.Min(float64(capacity[0]), f.bounds[Root].max), Demand: f.demand[Root]}
	f.divide(int32(Root))
	return e
}

// filling is one computation of the entitlements.
type filling struct {
	site   *site
	tree   *tree
	queues *queues

	e            []Entitlement
	demand, able []float64 // see addUp
	could        []int8    // by key: 1 if a task would fit if no other task ran, -1 if not, 0: not computed
	bounds       []bounds
	claims       []share.Claim
	kept         []float64 // units that a pool has in any case, see running.spared; nil: none
	packed       []float64 // units that the widths of its tasks can fill; nil: not requested
}

func newFilling(m *site, t *tree, w *queues) *filling {
	f := &filling{site: m, tree: t, queues: w, e: make([]Entitlement, len(t.pools)), bounds: make([]bounds, len(t.pools))}
	f.demand, f.able = f.addUp()
	return f
}

// bounds are the guaranteed units of a pool, as far as it can use them, and the most that it can use.
type bounds struct{ least, max float64 }

// bound computes the bounds of a pool and of the pools below it.
func (f *filling) bound(id int32) {
	p := &f.tree.pools[id]
	least, most := 0.0, f.able[id]
	if p.inner >= 0 {
		below, able := bounds{}, 0.0
		for _, kid := range f.tree.inners[p.inner].kids {
			f.bound(kid)
			below.least += f.bounds[kid].least
			below.max += f.bounds[kid].max
			able += f.able[kid]
		}
		// Tasks that started when the pool was a leaf pool are in none of its children.
		least, most = below.least, below.max+math.Max(0, f.able[id]-able)
	}
	if l := f.tree.limits(id); l != nil {
		if len(l.max) > 0 && l.max[0] >= 0 {
			most = math.Min(most, float64(l.max[0]))
		}
		if tasks := float64(p.Waiting) + float64(p.Tasks); l.tasks > 0 && tasks > 0 {
			most = math.Min(most, float64(l.tasks)*f.demand[id]/tasks)
		}
		if len(l.min) > 0 {
			least = math.Max(least, float64(l.min[0]))
		}
	}
	if f.packed != nil {
		most = math.Min(most, f.packed[id])
	}
	if f.kept != nil {
		least, most = math.Max(least, f.kept[id]), math.Max(most, f.kept[id])
	}
	f.bounds[id] = bounds{math.Min(least, most), most}
}

// divide divides the entitlement of a pool among the pools below it.
func (f *filling) divide(id int32) {
	if f.tree.pools[id].inner < 0 {
		return
	}
	kids := f.tree.inners[f.tree.pools[id].inner].kids
	weights := f.tree.inners[f.tree.pools[id].inner].counted.value()
	f.claims = f.claims[:0]
	for _, kid := range kids {
		b := f.bounds[kid]
		f.claims = append(f.claims, share.Claim{Weight: f.tree.pools[kid].Weight, Min: b.least, Max: b.max,
			Demand: b.max})
	}
	for i, part := range share.Divide(f.e[id].Now, f.claims) {
		f.e[kids[i]].Now = part
	}
	for _, kid := range kids {
		x := &f.e[kid]
		x.Demand = f.demand[kid]
		if f.tree.counts(kid) && weights > 0 {
			x.Here = f.tree.pools[kid].Weight / weights
			x.Share = f.e[id].Share * x.Here
		}
		f.divide(kid)
	}
}

// addUp adds up the demand of each pool, in units: its running and waiting tasks. It also adds up the usable part
// of the demand. That part excludes tasks that would not fit even if no other task ran. It also excludes tasks
// that wait for something other than room, and tasks that the limits of their jobs hold back. A pool is not
// entitled to units that it could not use.
func (f *filling) addUp() (all, able []float64) {
	all, able = make([]float64, len(f.tree.pools)), make([]float64, len(f.tree.pools))
	for i := range f.queues.all {
		q := &f.queues.all[i]
		waiting, of := 0.0, 0.0
		for k := range q.subs() {
			sub := q.sub(k)
			n := float64(sub.tasks) * f.site.cluster.Width(sub.key)
			waiting += n
			if f.usable(sub) {
				of += n
			}
		}
		all[q.pool] += waiting
		able[q.pool] += of
	}
	f.overLimits(func(sub *subQueue, pool int32, tasks int64) {
		able[pool] -= float64(tasks) * f.site.cluster.Width(sub.key)
	})
	f.tree.upwards(int32(Root), func(kid, above int32) {
		all[above] += all[kid]
		able[above] += able[kid]
	})
	for i := range f.tree.pools {
		all[i] += f.tree.pools[i].Running
		able[i] += f.tree.pools[i].Running
	}
	return all, able
}

// usable reports whether a sub-queue waits for room only, and would find it if no other task ran.
func (f *filling) usable(sub *subQueue) bool {
	for len(f.could) <= int(sub.key) {
		f.could = append(f.could, 0)
	}
	if f.could[sub.key] == 0 {
		f.could[sub.key] = -1
		if f.site.cluster.Empty().Could(sub.key) {
			f.could[sub.key] = 1
		}
	}
	return f.could[sub.key] > 0 && sub.gate.hopes()
}

// overLimits calls the function "each" for the waiting tasks of usable sub-queues that the limits of their
// jobs hold back.
func (f *filling) overLimits(each func(sub *subQueue, pool int32, tasks int64)) {
	for i := range f.queues.begun {
		b := &f.queues.begun[i]
		if over := b.waiting - max(0, b.max-b.running); b.waiting > 0 && b.max > 0 && over > 0 {
			if sub := f.queues.sub(b.at); f.usable(sub) {
				each(sub, f.queues.all[b.at.queue].pool, int64(over))
			}
		}
	}
}
