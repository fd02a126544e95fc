package sched

import (
	"math"
	"slices"

	"github.com/fairlead/fairlead/share"
)

// Entitlement is what a pool is entitled to.
type Entitlement struct {
	Share float64 // of the whole, when all pools that count are busy
	Here  float64 // the same of the pool above
	// Now is what the ideal fluid scheduler would give it at this instant, in units. It
	// depends on weights, minima, maxima and what could run, not on the policy.
	Now float64
	// Demand is what it wants: the units of what runs and what waits.
	Demand float64
}

// Entitlements computes for every pool its share of the whole, and what the ideal
// fluid scheduler would give it now. For the share, those siblings count that the
// configuration names or that have work. It takes time in the number of pools.
//
// The fluid fills the tree from the top ("hierarchical water-filling"): each pool
// divides what it has by [share.Divide] among those below. What a pool can take is
// bounded by what can be taken below it, and what it is sure of is at least what those
// below are sure of; so the leaves together have the lesser of the capacity and of what
// could run, and nothing is given to a pool whose maxima further down cannot use it.
func (s *Scheduler) Entitlements() []Entitlement {
	e := make([]Entitlement, len(s.pools))
	capacity, _ := s.cluster.Capacity()
	f := filling{s: s, e: e, bounds: make([]bounds, len(s.pools))}
	f.demand, f.able = s.demand()
	f.bound(int32(Root))
	e[Root] = Entitlement{Share: 1, Here: 1, Now: math.Min(float64(capacity[0]), f.bounds[Root].most), Demand: f.demand[Root]}
	f.divide(int32(Root))
	return e
}

// filling is one computation of the entitlements.
type filling struct {
	s            *Scheduler
	e            []Entitlement
	demand, able []float64 // see Scheduler.demand
	bounds       []bounds
	claims       []share.Claim
}

// bounds are what a pool is sure of, as far as it can use it, and what it can use.
type bounds struct{ least, most float64 }

// bound computes the bounds of a pool and of those below it.
func (f *filling) bound(id int32) {
	p := &f.s.pools[id]
	least, most := 0.0, f.able[id]
	if p.inner >= 0 {
		below, able := bounds{}, 0.0
		for _, kid := range f.s.inners[p.inner].kids {
			f.bound(kid)
			below.least += f.bounds[kid].least
			below.most += f.bounds[kid].most
			able += f.able[kid]
		}
		// Tasks that started when the pool was a leaf are in none of those below.
		least, most = below.least, below.most+math.Max(0, f.able[id]-able)
	}
	if l := f.s.limits(id); l != nil {
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
	f.bounds[id] = bounds{math.Min(least, most), most}
}

// divide divides what a pool has among those below it.
func (f *filling) divide(id int32) {
	if f.s.pools[id].inner < 0 {
		return
	}
	kids := f.s.inners[f.s.pools[id].inner].kids
	weights := f.s.inners[f.s.pools[id].inner].counted.value()
	f.claims = f.claims[:0]
	for _, kid := range kids {
		b := f.bounds[kid]
		f.claims = append(f.claims, share.Claim{Weight: f.s.pools[kid].Weight, Min: b.least, Max: b.most, Demand: b.most})
	}
	for i, part := range share.Divide(f.e[id].Now, f.claims) {
		f.e[kids[i]].Now = part
	}
	for _, kid := range kids {
		x := &f.e[kid]
		x.Demand = f.demand[kid]
		if f.s.counts(kid) && weights > 0 {
			x.Here = f.s.pools[kid].Weight / weights
			x.Share = f.e[id].Share * x.Here
		}
		f.divide(kid)
	}
}

// counts reports whether a pool counts among its siblings for their shares.
func (s *Scheduler) counts(id int32) bool { return s.pools[id].counts() }

func (p *Pool) counts() bool { return p.configured || p.Waiting > 0 || p.Tasks > 0 }

// demand is what each pool wants, in units: what runs and what waits; and of that, what
// it is able to use: without what would not fit even if nothing else ran, what waits for
// something else than room, and what the limits of the jobs themselves hold back. A pool
// is not owed what it could not use.
func (s *Scheduler) demand() (all, able []float64) {
	all, able = make([]float64, len(s.pools)), make([]float64, len(s.pools))
	could := make([]int8, s.cluster.Shapes()) // 0: not asked yet
	usable := func(l *line) bool {
		if could[l.shape] == 0 {
			could[l.shape] = -1
			if s.cluster.Could(l.shape) {
				could[l.shape] = 1
			}
		}
		return could[l.shape] > 0 && (l.gate == noGate || l.gate == byFit || l.gate == byMax)
	}
	for i := range s.queues {
		q := &s.queues[i]
		waiting, of := 0.0, 0.0
		for k := range q.lines() {
			l := q.line(k)
			n := float64(l.tasks) * s.cluster.Width(l.shape)
			waiting += n
			if usable(l) {
				of += n
			}
		}
		all[q.pool] += waiting
		able[q.pool] += of
	}
	for i := range s.begun {
		b := &s.begun[i]
		if over := b.waiting - max(0, b.most-b.running); b.waiting > 0 && b.most > 0 && over > 0 {
			if l := s.line(b.at); usable(l) {
				able[s.queues[b.at.queue].pool] -= float64(over) * s.cluster.Width(l.shape)
			}
		}
	}
	s.upwards(int32(Root), func(kid, above int32) {
		all[above] += all[kid]
		able[above] += able[kid]
	})
	for i := range s.pools {
		all[i] += s.pools[i].Running
		able[i] += s.pools[i].Running
	}
	return all, able
}

// upwards calls f for each pool below another and the one right above it, those further down first.
func (s *Scheduler) upwards(id int32, f func(kid, above int32)) {
	in := s.pools[id].inner
	if in < 0 {
		return
	}
	for _, kid := range s.inners[in].kids {
		s.upwards(kid, f)
		f(kid, id)
	}
}

// IdleWhileDemand is how many units are idle although a task that nothing holds back
// would fit. After a step that is 0, unless the jobs start strictly in order.
func (s *Scheduler) IdleWhileDemand() float64 {
	if !s.somethingFits() {
		return 0
	}
	wanted := 0.0
	for i := range s.queues {
		q := &s.queues[i]
		for k := range q.lines() {
			l := q.line(k)
			if !l.ready() || !s.openAbove(q.pool) {
				continue
			}
			if s.hasRoom(l) {
				wanted += float64(l.tasks) * s.cluster.Width(l.shape)
			}
		}
	}
	_, free := s.cluster.Capacity()
	return math.Min(wanted, float64(free[0]))
}

// openAbove reports whether neither the pool nor one above it is at a limit.
func (s *Scheduler) openAbove(id int32) bool {
	for ; id != int32(Root); id = s.pools[id].parent {
		if !s.pools[id].in {
			return false
		}
	}
	return true
}

// OldestWaiting is, for each pool, the id of the oldest job in and below it of which a
// task waits; 0 is none.
func (s *Scheduler) OldestWaiting() []int64 {
	oldest := make([]int64, len(s.pools))
	note := func(id int32, job int64) {
		if job > 0 && (oldest[id] == 0 || job < oldest[id]) {
			oldest[id] = job
		}
	}
	for i := range s.queues {
		q := &s.queues[i]
		for k := range q.lines() {
			if l := q.line(k); l.fresh.jobs > 0 {
				note(q.pool, l.fresh.front().id)
			}
		}
	}
	for i := range s.begun {
		if b := &s.begun[i]; b.waiting > 0 {
			note(s.queues[b.at.queue].pool, b.id)
		}
	}
	s.upwards(int32(Root), func(kid, above int32) { note(above, oldest[kid]) })
	return oldest
}

// OldestJobs are the ids of the oldest jobs of which a task waits, up to n of them, the oldest
// first: what [Scheduler.OldestWaiting] is of the whole, and those that follow.
func (s *Scheduler) OldestJobs(n int) []int64 {
	var oldest []int64
	note := func(id int64) (among bool) {
		at, _ := slices.BinarySearch(oldest, id)
		if at >= n {
			return false
		}
		oldest = slices.Insert(oldest, at, id)
		oldest = oldest[:min(n, len(oldest))]
		return true
	}
	for i := range s.queues {
		q := &s.queues[i]
		for k := range q.lines() {
			q.line(k).fresh.while(note)
		}
	}
	for i := range s.begun {
		if b := &s.begun[i]; b.waiting > 0 {
			note(b.id)
		}
	}
	return oldest
}
