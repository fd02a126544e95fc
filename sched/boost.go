package sched

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// Boost multiplies the weight of a pool until an instant, or until the pool has
// received some service. Several boosts of a pool multiply.
type Boost struct {
	ID      int64  // chosen by the caller; 0 for those that the scheduler begins itself
	Pool    string // path; the pool need not be there yet
	Factor  float64
	Until   time.Time // zero: no end by time
	Usage   float64   // slot-seconds after which it ends, not decayed; 0: no end by usage
	Had     float64   // of these, received so far
	Note    string    // for people, e.g. by whom and why
	Starter bool      // of a new pool, by the configuration of the pool above
}

// Bounds of a factor.
const (
	LeastFactor = 1e-3
	MostFactor  = 1e3
)

// CheckFactor says why a factor cannot be one of a boost.
func CheckFactor(f float64) error {
	if !(f >= LeastFactor && f <= MostFactor) {
		return fmt.Errorf("the factor must be from %v to %v, got %v", LeastFactor, MostFactor, f)
	}
	return nil
}

// over reports whether nothing is left of a boost.
func (b *Boost) over(now time.Time) bool {
	return !b.Until.IsZero() && !b.Until.After(now) || b.Usage > 0 && b.Had >= b.Usage
}

// boosting is the state of all boosts.
type boosting struct {
	slots  []boost
	free   freeList
	of     map[int32][]int32  // slots by pool, in the order in which the boosts began
	absent map[string][]int32 // slots by the path of a pool that is not there yet
	ends   []int32            // heap of slots by their end
	spent  map[int32]float64  // what pools had received when their starter ended by usage
	ended  []Boost            // since they were last asked for
}

// boost is one that is in force.
type boost struct {
	Boost
	pool  int32     // -1: not there yet
	since time.Time // Had is as of this instant
	end   time.Time // as things are now; zero: none in sight
	place int32     // in the heap
}

func (b *boosting) fork() {
	of, absent, spent := b.of, b.absent, b.spent
	b.slots, b.free, b.ends, b.ended = slices.Clone(b.slots), slices.Clone(b.free), slices.Clone(b.ends), nil
	b.of, b.absent, b.spent = map[int32][]int32{}, map[string][]int32{}, map[int32]float64{}
	for id, slots := range of {
		b.of[id] = slices.Clone(slots)
	}
	for path, slots := range absent {
		b.absent[path] = slices.Clone(slots)
	}
	for id, had := range spent {
		b.spent[id] = had
	}
}

// next is when the first boost ends as things are now; zero if none does.
func (b *boosting) next() time.Time {
	if len(b.ends) == 0 {
		return time.Time{}
	}
	return b.slots[b.ends[0]].end
}

// Boost puts a boost into force. One that is over already changes nothing.
func (s *Scheduler) Boost(b Boost, t time.Time) {
	s.advance(t)
	if b.over(s.at) {
		return
	}
	if id, there := s.Lookup(b.Pool); there {
		s.enter(b, int32(id))
		s.reweigh(int32(id))
		return
	}
	slot := s.enter(b, -1)
	if s.boosts.absent == nil {
		s.boosts.absent = map[string][]int32{}
	}
	s.boosts.absent[b.Pool] = append(s.boosts.absent[b.Pool], slot)
}

// Unboost ends a boost before its time, and reports whether it was in force.
func (s *Scheduler) Unboost(id int64, t time.Time) bool {
	s.advance(t)
	for slot := range s.boosts.slots {
		if b := &s.boosts.slots[slot]; b.ID == id && id != 0 {
			pool := b.pool
			s.drop(int32(slot))
			if pool >= 0 {
				s.reweigh(pool)
			}
			return true
		}
	}
	return false
}

// Boosts lists the boosts in force that the caller began, by id, with what their pools
// have received so far.
func (s *Scheduler) Boosts() []Boost {
	var out []Boost
	for slot := range s.boosts.slots {
		if b := &s.boosts.slots[slot]; b.ID != 0 {
			out = append(out, s.boostNow(b))
		}
	}
	slices.SortFunc(out, func(a, b Boost) int { return int(a.ID - b.ID) })
	return out
}

// BoostsOf lists the boosts of a pool, starters included, in the order in which they
// began.
func (s *Scheduler) BoostsOf(id PoolID) []Boost {
	var out []Boost
	for _, slot := range s.boosts.of[int32(id)] {
		out = append(out, s.boostNow(&s.boosts.slots[slot]))
	}
	return out
}

// EndedBoosts returns the boosts that ended since it was called last.
func (s *Scheduler) EndedBoosts() []Boost {
	ended := s.boosts.ended
	s.boosts.ended = nil
	return ended
}

// BaseWeight is the pool's weight without boosts.
func (s *Scheduler) BaseWeight(id PoolID) float64 { return s.labels[id].weight }

func (s *Scheduler) boostNow(b *boost) Boost {
	now := b.Boost
	now.Had = s.had(b)
	return now
}

// had is what the boosted pool has received by now.
func (s *Scheduler) had(b *boost) float64 {
	if b.pool < 0 {
		return b.Had
	}
	return b.Had + s.pools[b.pool].Rate*s.at.Sub(b.since).Seconds()
}

// enter takes a boost in without touching the weight of its pool.
func (s *Scheduler) enter(b Boost, pool int32) (slot int32) {
	slot = s.boosts.free.take(len(s.boosts.slots))
	if int(slot) == len(s.boosts.slots) {
		s.boosts.slots = append(s.boosts.slots, boost{})
	}
	s.boosts.slots[slot] = boost{Boost: b, pool: pool, since: s.at}
	s.bind(slot, pool)
	heap.Push(boostHeap{&s.boosts}, slot)
	return slot
}

// bind ties a boost to its pool.
func (s *Scheduler) bind(slot, pool int32) {
	b := &s.boosts.slots[slot]
	if pool >= 0 {
		if s.boosts.of == nil {
			s.boosts.of = map[int32][]int32{}
		}
		s.boosts.of[pool] = append(s.boosts.of[pool], slot)
		b.pool, b.since = pool, s.at
	}
	b.end = s.endOf(b)
}

// bindNew ties the boosts that wait for a pool to it.
func (s *Scheduler) bindNew(id int32) {
	if len(s.boosts.absent) == 0 {
		return
	}
	path := s.Path(PoolID(id))
	for _, slot := range s.boosts.absent[path] {
		s.bind(slot, id)
		heap.Fix(boostHeap{&s.boosts}, int(s.boosts.slots[slot].place))
	}
	delete(s.boosts.absent, path)
	s.pools[id].Weight = s.weightOf(id)
}

// drop takes a boost out without touching the weight of its pool.
func (s *Scheduler) drop(slot int32) {
	b := &s.boosts.slots[slot]
	heap.Remove(boostHeap{&s.boosts}, int(b.place))
	is := func(n int32) bool { return n == slot }
	if b.pool < 0 {
		if s.boosts.absent[b.Pool] = slices.DeleteFunc(s.boosts.absent[b.Pool], is); len(s.boosts.absent[b.Pool]) == 0 {
			delete(s.boosts.absent, b.Pool)
		}
	} else if s.boosts.of[b.pool] = slices.DeleteFunc(s.boosts.of[b.pool], is); len(s.boosts.of[b.pool]) == 0 {
		delete(s.boosts.of, b.pool)
	}
	s.boosts.slots[slot] = boost{}
	s.boosts.free = append(s.boosts.free, slot)
}

// weightOf is the weight of a pool with its boosts: without any, it is the one that is
// configured, to the last bit.
func (s *Scheduler) weightOf(id int32) float64 {
	w := s.labels[id].weight
	for _, slot := range s.boosts.of[id] {
		w *= s.boosts.slots[slot].Factor
	}
	if w == s.labels[id].weight {
		return w
	}
	return math.Min(math.Max(w, 1/share.MaxWeight), share.MaxWeight)
}

// reweigh puts the weights of pools into force, as a new configuration does.
func (s *Scheduler) reweigh(pools ...int32) {
	pools = slices.DeleteFunc(pools, func(id int32) bool { return s.pools[id].Weight == s.weightOf(id) })
	if len(pools) == 0 {
		return
	}
	before := s.remember()
	s.deferred = true
	for _, id := range pools {
		s.pools[id].Weight = s.weightOf(id)
	}
	s.carry(before)
	s.rebuild()
}

// endBoosts ends those whose end has come.
func (s *Scheduler) endBoosts() {
	var pools []int32
	for next := s.boosts.next(); !next.IsZero() && !next.After(s.at); next = s.boosts.next() {
		slot := s.boosts.ends[0]
		b := &s.boosts.slots[slot]
		if b.pool >= 0 {
			pools = append(pools, b.pool)
		}
		s.spend(b)
		if !b.Starter {
			s.boosts.ended = append(s.boosts.ended, s.boostNow(b))
		}
		s.drop(slot)
	}
	s.reweigh(pools...)
}

// endOf is when a boost ends as things are now: what runs in a pool receives service at
// a constant rate until the next event.
func (s *Scheduler) endOf(b *boost) time.Time {
	end := b.Until
	if b.Usage <= 0 || b.pool < 0 || s.pools[b.pool].Rate <= 0 {
		return end
	}
	left := math.Max(0, b.Usage-b.Had)
	wait := math.Ceil(left / s.pools[b.pool].Rate * 1e9)
	if wait > math.MaxInt64/4 {
		return end
	}
	if at := b.since.Add(time.Duration(wait)); end.IsZero() || at.Before(end) {
		end = at
	}
	return end
}

// charge counts what a pool and those above it have received, before what runs in them
// changes.
func (s *Scheduler) charge(leaf int32) {
	if len(s.boosts.of) == 0 {
		return
	}
	for id := leaf; id >= 0; id = s.pools[id].parent {
		for _, slot := range s.boosts.of[id] {
			b := &s.boosts.slots[slot]
			b.Had, b.since = s.had(b), s.at
		}
	}
}

// foresee computes anew when the boosts end, after what runs has changed.
func (s *Scheduler) foresee(leaf int32) {
	if len(s.boosts.of) == 0 {
		return
	}
	for id := leaf; id >= 0; id = s.pools[id].parent {
		for _, slot := range s.boosts.of[id] {
			b := &s.boosts.slots[slot]
			if b.Usage > 0 {
				b.end = s.endOf(b)
				heap.Fix(boostHeap{&s.boosts}, int(b.place))
			}
		}
	}
}

// refund takes back what a task received that did not start after all.
func (s *Scheduler) refund(r *run) {
	if len(s.boosts.of) == 0 {
		return
	}
	for id := r.pool; id >= 0; id = s.pools[id].parent {
		for _, slot := range s.boosts.of[id] {
			b := &s.boosts.slots[slot]
			b.Had = math.Max(0, b.Had-r.rate()*s.at.Sub(r.started).Seconds())
		}
	}
	s.foresee(r.pool)
}

// boostHeap orders the boosts by their end; those without one are last.
type boostHeap struct{ *boosting }

func (h boostHeap) Len() int { return len(h.ends) }
func (h boostHeap) Less(i, j int) bool {
	a, b := h.slots[h.ends[i]].end, h.slots[h.ends[j]].end
	switch {
	case a.IsZero() || b.IsZero():
		return !a.IsZero()
	case !a.Equal(b):
		return a.Before(b)
	}
	return h.ends[i] < h.ends[j]
}
func (h boostHeap) Swap(i, j int) {
	h.ends[i], h.ends[j] = h.ends[j], h.ends[i]
	h.slots[h.ends[i]].place, h.slots[h.ends[j]].place = int32(i), int32(j)
}
func (h boostHeap) Push(x any) {
	h.slots[x.(int32)].place = int32(len(h.ends))
	h.ends = append(h.ends, x.(int32))
}
func (h boostHeap) Pop() any {
	last := len(h.ends) - 1
	slot := h.ends[last]
	h.ends = h.ends[:last]
	return slot
}

// whyBoosts says what multiplies the weight of a pool, and what it is without that.
func (s *Scheduler) whyBoosts(id int32) (base float64, all []why.Boost) {
	base = s.labels[id].weight
	for _, b := range s.BoostsOf(PoolID(id)) {
		x := why.Boost{What: "boost", Factor: b.Factor, Usage: b.Usage, Had: b.Had, Note: b.Note}
		if b.Starter {
			x.What, x.Note = "starter", ""
		}
		if !b.Until.IsZero() {
			x.Until = &b.Until
		}
		all = append(all, x)
	}
	if p := &s.pools[id]; s.labels[id].kind == band && p.young && s.cfg.NewJobs.For > 0 {
		base = s.cfg.Priorities[p.band].Weight
		all = append(all, why.Boost{What: "new jobs", Factor: s.cfg.NewJobs.Factor, Note: "for " + why.Duration(s.cfg.NewJobs.For) + " after they came"})
	}
	if len(all) == 0 {
		return 0, nil
	}
	return base, all
}
