package sched

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/why"
)

// Comparisons returns, for each pool on the way from the root down to a leaf, how
// its children compare: by the terms that the next step would compare. At most most
// children before the one on the way are listed, all if most is 0.
func (s *Scheduler) Comparisons(leaf PoolID, most int) []why.Level {
	way := s.way(int32(leaf))
	levels := make([]why.Level, 0, len(way)-1)
	for i := 1; i < len(way); i++ {
		levels = append(levels, s.compare(way[i-1], way[i], most))
	}
	return levels
}

func (s *Scheduler) compare(parent, you int32, most int) why.Level {
	in := &s.inners[s.pools[parent].inner]
	f := in.policy.Formula()
	l := why.Level{
		Pool: s.Path(PoolID(parent)), Policy: f.Policy, Formula: f.Text, Order: f.Order, Terms: f.Terms, Says: f.Says,
		Clock: in.clock, You: s.labels[you].name,
	}
	s.retarget(in)
	all := []candidate{s.candidate(in, you)}
	weights, received := in.counted.value(), s.pools[parent].Service(s.now)
	for _, kid := range in.kids {
		if kid == you || !s.pools[kid].in {
			continue
		}
		all = append(all, s.candidate(in, kid))
	}
	s.rankTies(in, all)
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
		l.Children = append(l.Children, s.describe(c, weights, received))
	}
	showFixed(l.Children)
	return l
}

// candidate is one child of a pool as it is compared.
type candidate struct {
	id    int32
	needy bool
	terms why.Terms
	drift [2]float64
}

func (s *Scheduler) candidate(in *inner, id int32) candidate {
	c := candidate{id: id, needy: s.pools[id].needy}
	switch {
	case in.keyed != nil || in.ranker != nil:
		c.terms = s.terms(in, id)
		if in.drifter != nil {
			c.drift = in.drifter.Drift(&s.pools[id], s.setting(in))
		}
	case in.weigher != nil:
		c.terms = in.weigher.Weigh(&s.pools[id])
		c.terms.Tie = -c.terms.Key
	}
	return c
}

func (c candidate) result() float64 {
	if c.terms.Formula == nil {
		return c.terms.Key
	}
	return c.terms.Formula.Result(c.terms.Key)
}

func (c candidate) compare(d candidate) int {
	if c.needy != d.needy {
		if c.needy {
			return -1
		}
		return 1
	}
	fixed := 0
	if c.drift == d.drift {
		fixed = cmp.Compare(c.terms.Fixed, d.terms.Fixed)
	}
	return cmp.Or(cmp.Compare(c.terms.Key, d.terms.Key), cmp.Compare(c.terms.Tie, d.terms.Tie), fixed, cmp.Compare(c.id, d.id))
}

func (c candidate) before(d candidate) bool { return c.compare(d) < 0 }

func (s *Scheduler) describe(c candidate, weights, received float64) why.Child {
	p := &s.pools[c.id]
	d := why.Child{
		Name: s.labels[c.id].name, Terms: map[string]why.Number{}, Key: why.Number(c.result()), Tie: why.Number(c.terms.Tie),
		Number: c.id, Needy: c.needy, Open: p.in, Waiting: p.Waiting, Running: p.Tasks,
	}
	if r := c.terms.Resource; r > 0 {
		d.Resource = s.cluster.Resource(int(r) - 1)
	}
	if c.needy {
		d.Lack = s.lack(c.id)
	}
	if s.counts(c.id) && weights > 0 {
		d.Share = p.Weight / weights
	}
	d.Base, d.Boosts = s.whyBoosts(c.id)
	if received > 0 {
		d.Used = p.Service(s.now) / received
	}
	if f := c.terms.Formula; f != nil {
		for i, t := range f.Terms {
			d.Terms[t.Name] = why.Number(c.terms.Values[i])
		}
	}
	return d
}

// lack is what a pool has less of than its minimum, or the first of those below it that
// has less.
func (s *Scheduler) lack(id int32) *why.Lack {
	for {
		p := &s.pools[id]
		if l := s.limits(id); l != nil {
			for r, least := range l.min {
				if l.used[r] < least {
					return &why.Lack{Pool: s.Path(PoolID(id)), Resource: s.cluster.Resource(r), Has: l.used[r], Min: least}
				}
			}
		}
		if p.inner < 0 || len(s.inners[p.inner].needy) == 0 {
			return nil
		}
		id = s.inners[p.inner].needy[0]
	}
}

// Leaf returns the pool that holds a job, bands included, without making it.
func (s *Scheduler) Leaf(j Job) PoolID {
	id := int32(j.Pool)
	if !s.banded(id) {
		return PoolID(id)
	}
	if b, begun := s.begunOf[j.ID]; begun && s.begun[b].waiting > 0 {
		return PoolID(s.queues[s.begun[b].at.queue].pool)
	}
	if at, found := s.held(j); found {
		return PoolID(s.queues[at.queue].pool)
	}
	for _, young := range []bool{s.young(j), !s.young(j)} {
		if b, ok := s.index[childKey{id, s.bandName(j.Priority, young), band}]; ok {
			return PoolID(b)
		}
	}
	return PoolID(id)
}

// Behind counts the jobs and tasks of the same leaf that go before the job.
func (s *Scheduler) Behind(j Job) (jobs int, tasks int64) {
	leaf := s.Leaf(j)
	q := s.pools[leaf].queue
	if q < 0 {
		return 0, 0
	}
	if s.queues[q].ranked {
		return s.behindByRank(int32(leaf), &j)
	}
	for i := range s.queues[q].lines() {
		l := s.queues[q].line(i)
		n, t := l.fresh.before(j.ID)
		jobs, tasks = jobs+n, tasks+t
		for _, b := range l.begun {
			if s.begun[b].id < j.ID {
				jobs, tasks = jobs+1, tasks+int64(s.begun[b].waiting)
			}
		}
	}
	return jobs, tasks
}

// Waits reports whether tasks of the job wait that could start if there were room: it
// was added, and they have neither started nor to wait for a begin time.
func (s *Scheduler) Waits(j Job) bool {
	if b, ok := s.begunOf[j.ID]; ok {
		return s.begun[b].waiting > 0
	}
	q := s.pools[s.Leaf(j)].queue
	if q < 0 {
		return false
	}
	for i := range s.queues[q].lines() {
		if _, _, found := s.queues[q].line(i).fresh.find(j.ID); found {
			return true
		}
	}
	return false
}

// Strict reports whether a leaf serves its jobs in order of arrival and nothing else;
// other leaves serve those with the fewest running tasks first.
func (s *Scheduler) Strict(leaf PoolID) bool { return s.strict(int32(leaf)) }

// telling is what the first line asks for that is ready, or else the first in which
// something waits.
func (q *queue) telling() ask {
	first, found := q.first.ask, false
	for i := range q.lines() {
		l := q.line(i)
		if l.ready() {
			return l.ask
		}
		if l.tasks > 0 && !found {
			first, found = l.ask, true
		}
	}
	return first
}

// Parting returns the comparison at the pool in which the ways to two leaves part,
// with just these two children in order. It reports false if the leaves are the same.
func (s *Scheduler) Parting(a, b PoolID) (l why.Level, parts bool) {
	wayA, wayB := s.way(int32(a)), s.way(int32(b))
	i := 0
	for i < len(wayA) && i < len(wayB) && wayA[i] == wayB[i] {
		i++
	}
	if i == len(wayA) || i == len(wayB) {
		return l, false
	}
	parent := wayA[i-1]
	in := &s.inners[s.pools[parent].inner]
	f := in.policy.Formula()
	l = why.Level{
		Pool: s.Path(PoolID(parent)), Policy: f.Policy, Formula: f.Text, Order: f.Order, Terms: f.Terms, Says: f.Says,
		Clock: in.clock, You: s.labels[wayA[i]].name,
	}
	s.retarget(in)
	pair := []candidate{s.candidate(in, wayA[i]), s.candidate(in, wayB[i])}
	s.rankTies(in, pair)
	slices.SortFunc(pair, candidate.compare)
	weights := in.counted.value()
	for _, c := range pair {
		l.Children = append(l.Children, s.describe(c, weights, s.pools[parent].Service(s.now)))
	}
	showFixed(l.Children)
	if pair[1].id == wayA[i] {
		l.Before = 1
	}
	return l, true
}

// way lists the pools from the root down to one.
func (s *Scheduler) way(id int32) []int32 {
	var way []int32
	for ; id >= 0; id = s.pools[id].parent {
		way = append(way, id)
	}
	slices.Reverse(way)
	return way
}

// firstOf is the child of a pool that goes first.
func (s *Scheduler) firstOf(in *inner) int32 {
	if in.ranker != nil {
		return s.firstRanked(in)
	}
	var t why.Terms
	return s.leading(in, &t)
}

// BehindAt returns the first pool on the way to a leaf at which another child goes
// before the one on the way, looking at the first in order only. Children of an [Allotter]
// that run something and stand level do not go before one another here. It reports false if the leaf is next
// everywhere.
func (s *Scheduler) BehindAt(leaf PoolID) (pool PoolID, behind bool) {
	way := s.way(int32(leaf))
	for i := 1; i < len(way); i++ {
		in := &s.inners[s.pools[way[i-1]].inner]
		if in.keyed == nil && in.ranker == nil || in.open == 0 {
			continue
		}
		s.retarget(in)
		first := s.firstOf(in)
		if first == way[i] {
			continue
		}
		x, y := s.candidate(in, first), s.candidate(in, way[i])
		if in.allot != nil && x.terms.Key == y.terms.Key && x.needy == y.needy && s.pools[way[i]].Tasks > 0 {
			continue // both have what they are entitled to, and a slot that either frees comes back to it
		}
		if x.before(y) {
			return PoolID(way[i-1]), true
		}
	}
	return Root, false
}
