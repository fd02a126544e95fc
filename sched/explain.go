package sched

import (
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/why"
)

// Explainer returns the numbers that order jobs and pools.
type Explainer struct{ s *Scheduler }

// Explain returns an Explainer of the scheduler's order.
func (s *Scheduler) Explain() Explainer { return Explainer{s} }

// Comparisons returns, for each pool on the path from the root to a leaf pool, how its children compare, by the terms
// that the next step would compare. It lists the children that may start a task or lack only room. Of the children that
// go before the child on the path, it lists no more than the argument "most" says; 0 means all of them.
func (v Explainer) Comparisons(leaf PoolID, most int) []why.Level {
	way, roomless := v.way(int32(leaf)), v.roomless()
	levels := make([]why.Level, 0, len(way)-1)
	for i := 1; i < len(way); i++ {
		levels = append(levels, v.compare(way[i-1], way[i], most, roomless))
	}
	return levels
}

// comparesPools reports whether a policy compares pools by their accounts instead of by jobs. If all jobs of a pool
// lack room, the pool has no first job, so only such a policy can compare it.
func comparesPools(in *inner) bool { return in.as.keyed != nil && !in.first && !in.ranks }

// roomless are the pools with jobs that only lack room, and the pools above them.
func (v Explainer) roomless() map[int32]bool {
	pools := map[int32]bool{}
	for _, key := range v.s.gates.noRoom.active {
		for _, at := range v.s.gates.noRoom.of[key] {
			for id := v.s.queues.all[at.queue].pool; id >= 0 && !pools[id]; id = v.s.tree.pools[id].parent {
				pools[id] = true
			}
		}
	}
	return pools
}

// levelOf begins the comparison of the children of a pool. The argument "you" is the child on the path of the job in
// question.
func (v Explainer) levelOf(in *inner, you int32) why.Level {
	f := in.policy.Formula()
	return why.Level{
		Pool: v.s.tree.Path(PoolID(in.id)), Policy: f.Policy, Formula: f.Text, Order: f.Order, Terms: f.Terms, Says: f.Says,
		Called: f.Called, Tied: f.Tied, TermByTerm: f.TermByTerm, Clock: in.clock, You: v.s.tree.labels[you].name,
	}
}

func (v Explainer) compare(parent, you int32, most int, roomless map[int32]bool) why.Level {
	in := &v.s.tree.inners[v.s.tree.pools[parent].inner]
	l := v.levelOf(in, you)
	v.s.choice.retarget(in)
	all := []candidate{v.candidate(in, you)}
	weights, received := in.counted.value(), v.s.tree.pools[parent].Service(v.s.site.now)
	for _, kid := range in.kids {
		if kid == you || !v.s.tree.pools[kid].seat.in && !(roomless[kid] && comparesPools(in)) {
			continue
		}
		all = append(all, v.candidate(in, kid))
	}
	v.s.choice.rankTies(in, all)
	mine, before := all[0], all[1:]
	if most > 0 {
		before = slices.DeleteFunc(before, func(c candidate) bool { return !c.before(mine) })
	}
	slices.SortFunc(before, candidate.compare)
	l.Before = len(before)
	if most == 0 {
		l.Before, _ = slices.BinarySearchFunc(before, mine, candidate.compare)
		before = slices.Insert(before, l.Before, mine)
	} else {
		l.Left = max(0, len(before)-most)
		before = append(before[:len(before)-l.Left], mine)
	}
	for _, c := range before {
		child := v.describe(c, weights, received)
		child.NoRoom = !child.Open && roomless[c.id]
		l.Children = append(l.Children, child)
	}
	showFixed(l.Children)
	return l
}

func (v Explainer) candidate(in *inner, id int32) candidate {
	c := candidate{id: id, belowMin: v.s.tree.pools[id].seat.belowMin}
	switch {
	case in.as.keyed != nil || in.as.ranker != nil:
		c.terms = v.s.choice.terms(in, id)
		if in.as.drifter != nil {
			c.drift = in.as.drifter.Drift(&v.s.tree.pools[id], v.s.orders.setting(in))
		}
	case in.as.weigher != nil:
		c.terms = in.as.weigher.Weigh(&v.s.tree.pools[id])
		c.terms.Tie = -c.terms.Key
	}
	return c
}

func (v Explainer) describe(c candidate, weights, received float64) why.Child {
	p := &v.s.tree.pools[c.id]
	d := why.Child{
		Name: v.s.tree.labels[c.id].name, Terms: map[string]why.Number{}, Key: why.Number(c.result()),
		Tie:    why.Number(c.terms.Tie),
		Number: c.id, BelowMin: c.belowMin, Open: p.seat.in, Waiting: p.Waiting, Running: p.Tasks,
	}
	if r := c.terms.Resource; r > 0 {
		d.Resource = v.s.site.cluster.Resource(int(r) - 1)
	}
	if c.belowMin {
		d.Lack = v.lack(c.id)
	}
	if v.s.tree.counts(c.id) && weights > 0 {
		d.Share = p.Weight / weights
	}
	d.Base, d.Boosts = v.whyBoosts(c.id)
	if received > 0 {
		d.Used = p.Service(v.s.site.now) / received
	}
	if f := c.terms.Formula; f != nil {
		for i, t := range f.Terms {
			d.Terms[t.Name] = why.Number(c.terms.Values[i])
		}
	}
	return d
}

// lack returns the resource in which a pool is below its minimum. If there is none, it looks at the first pool below
// that is below its minimum.
func (v Explainer) lack(id int32) *why.Lack {
	for {
		p := &v.s.tree.pools[id]
		if l := v.s.tree.limits(id); l != nil {
			for r, least := range l.min {
				if l.used[r] < least {
					return &why.Lack{Pool: v.s.tree.Path(PoolID(id)), Resource: v.s.site.cluster.Resource(r), Has: l.used[r],
						Min: least}
				}
			}
		}
		if p.inner < 0 || len(v.s.tree.inners[p.inner].belowMin) == 0 {
			return nil
		}
		id = v.s.tree.inners[p.inner].belowMin[0]
	}
}

// Waits reports whether tasks of the job wait that could start now if there were room, and whether tasks wait for their
// begin time.
func (v View) Waits(j Job) (now, later bool) {
	return v.waitsNow(j), v.s.intake.later.jobs[j.ID].tasks > 0
}

// waitsNow reports whether waiting tasks of the job could start if there were room. That is so if the job was added,
// and the tasks have not started and need not wait for a begin time.
func (v View) waitsNow(j Job) bool {
	if b, ok := v.s.queues.begunOf[j.ID]; ok {
		return v.s.queues.begun[b].waiting > 0
	}
	q := v.s.tree.pools[v.s.growth.Leaf(j)].queue
	if q < 0 {
		return false
	}
	for i := range v.s.queues.all[q].subs() {
		if _, _, found := v.s.queues.all[q].sub(i).fresh.find(j.ID); found {
			return true
		}
	}
	return false
}

// Turn returns the numbers that compare a waiting job with other jobs of its leaf pool. They are the number of its
// running tasks, and the time when one last started or ended (the submission time if none has). It returns false if the
// leaf pool serves its jobs strictly in order of arrival.
func (v View) Turn(leaf PoolID, j Job) (running int, since time.Time, takes bool) {
	if v.s.tree.strict(int32(leaf)) {
		return 0, j.Submitted, false
	}
	if b, ok := v.s.queues.begunOf[j.ID]; ok {
		x := &v.s.queues.begun[b]
		return int(x.running), agesFrom.Add(x.turn), true
	}
	return 0, j.Submitted, true
}

// telling returns the request and the first job of the first ready sub-queue, or else of the first sub-queue with
// waiting tasks; the job is 0 if none is known.
func (w *queues) telling(q *queue) (ask, int64) {
	tells, found := &q.first, false
	for i := range q.subs() {
		sub := q.sub(i)
		if sub.ready() {
			return sub.ask, w.firstJob(q, sub)
		}
		if sub.tasks > 0 && !found {
			tells, found = sub, true
		}
	}
	return tells.ask, w.firstJob(q, tells)
}

// firstJob returns the first job of a sub-queue, or 0.
func (w *queues) firstJob(q *queue, sub *subQueue) int64 {
	if h := w.head(sub, q.strict); h.id != math.MaxInt64 {
		return h.id
	}
	return 0
}

// Parting returns the comparison in the pool where the paths to two leaf pools part, with just these two children,
// in order. It returns false if the leaf pools are the same.
func (v Explainer) Parting(a, b PoolID) (l why.Level, parts bool) {
	wayA, wayB := v.way(int32(a)), v.way(int32(b))
	i := 0
	for i < len(wayA) && i < len(wayB) && wayA[i] == wayB[i] {
		i++
	}
	if i == len(wayA) || i == len(wayB) {
		return l, false
	}
	parent := wayA[i-1]
	in := &v.s.tree.inners[v.s.tree.pools[parent].inner]
	l = v.levelOf(in, wayA[i])
	v.s.choice.retarget(in)
	pair := []candidate{v.candidate(in, wayA[i]), v.candidate(in, wayB[i])}
	v.s.choice.rankTies(in, pair)
	slices.SortFunc(pair, candidate.compare)
	weights := in.counted.value()
	for _, c := range pair {
		l.Children = append(l.Children, v.describe(c, weights, v.s.tree.pools[parent].Service(v.s.site.now)))
	}
	showFixed(l.Children)
	if pair[1].id == wayA[i] {
		l.Before = 1
	}
	return l, true
}

// way lists the pools on the path from the root to a pool.
func (v Explainer) way(id int32) []int32 {
	var way []int32
	for ; id >= 0; id = v.s.tree.pools[id].parent {
		way = append(way, id)
	}
	slices.Reverse(way)
	return way
}

// firstOf returns the child of a pool that goes first.
func (v Explainer) firstOf(in *inner) int32 {
	if in.as.ranker != nil {
		return v.s.choice.firstRanked(in)
	}
	var t why.Terms
	return v.s.choice.leading(in, &t)
}

// BehindAt returns the first pool on the path to a leaf pool in which another child goes before the one on the path. It
// checks only the first child in order. Children of an [Allotter] that run tasks and have equal keys do not count as
// going before one another. The flag "next" means that the leaf pool goes first in all pools on the path, and that no
// job waiting for room might go before its jobs. (Jobs that wait for room are compared only once there is room.)
func (v Explainer) BehindAt(leaf PoolID) (pool PoolID, behind, next bool) {
	way := v.way(int32(leaf))
	next = !slices.ContainsFunc(v.s.gates.noRoom.active, v.s.site.cluster.Empty().Could)
	for i := 1; i < len(way); i++ {
		next = next && v.s.tree.pools[way[i]].seat.in
		in := &v.s.tree.inners[v.s.tree.pools[way[i-1]].inner]
		if in.as.keyed == nil && in.as.ranker == nil || in.open == 0 {
			continue
		}
		v.s.choice.retarget(in)
		first := v.firstOf(in)
		if first == way[i] {
			continue
		}
		x, y := v.candidate(in, first), v.candidate(in, way[i])
		if in.as.allot != nil && x.terms.Key == y.terms.Key && x.belowMin == y.belowMin && v.s.tree.pools[way[i]].Tasks > 0 {
			continue // both have their entitlement, and a slot that one frees returns to it
		}
		if x.before(y) {
			return PoolID(way[i-1]), true, false
		}
	}
	return Root, false, next
}

// whyBoosts returns the boosts of the weight of a pool, and its weight without them.
func (v Explainer) whyBoosts(id int32) (base float64, all []why.Boost) {
	base = v.s.tree.labels[id].weight
	for _, b := range v.s.Read().BoostsOf(PoolID(id)) {
		x := why.Boost{What: "boost", Factor: b.Factor, Usage: b.Usage, Had: b.Had, Note: b.Note}
		if b.Starter {
			x.What, x.Note = "starter", ""
		}
		if !b.Until.IsZero() {
			x.Until = &b.Until
		}
		all = append(all, x)
	}
	if p := &v.s.tree.pools[id]; v.s.tree.labels[id].kind == priorityClass && p.isNew && v.s.site.cfg.NewJobs.For > 0 {
		base = v.s.site.cfg.Priorities[p.priority].Weight
		all = append(all, why.Boost{What: "new jobs", Factor: v.s.site.cfg.NewJobs.Factor,
			Note: "for " + why.Duration(v.s.site.cfg.NewJobs.For) + " after they came"})
	}
	if len(all) == 0 {
		return 0, nil
	}
	return base, all
}

// showFixed keeps Fixed only where it decides: where keys and ties are equal and a younger pool goes before an older
// one. Among such children may be some with different drifts, so showFixed replaces Fixed by the place in the order.
func showFixed(all []why.Child) {
	for from := 0; from < len(all); {
		to, old := from+1, true
		for to < len(all) && all[to].BelowMin == all[from].BelowMin && all[to].Key == all[from].Key && all[to].Tie == all[from].Tie {
			old = old && all[to-1].Number < all[to].Number
			to++
		}
		for i := from; i < to; i++ {
			all[i].Fixed = 0
			if !old {
				all[i].Fixed = why.Number(i - from)
			}
		}
		from = to
	}
}
