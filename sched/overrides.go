package sched

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
)

// overrides are temporary decisions of administrators: boosts and pauses of pools.
type overrides struct {
	site   *site
	tree   *tree
	orders *orders
	turns  *turns

	boosts boosting
	pauses pausing
}

// Boost multiplies the weight of a pool until an instant, or until the pool has received some service. Several
// boosts of one pool multiply.
type Boost struct {
	ID      int64  // chosen by the caller; 0 for boosts that the scheduler starts itself
	Pool    string // path; the pool need not exist yet
	Factor  float64
	Until   time.Time // zero: no end by time
	Usage   float64   // undecayed slot-seconds after which it ends; 0: no end by usage
	Had     float64   // slot-seconds received so far
	Note    string    // for people, e.g. who set it, and why
	Starter bool      // starter of a new pool, configured in the pool above
}

// Bounds of a factor.
const (
	leastFactor = 1e-3
	maxFactor   = 1e3
)

// over reports whether a boost has ended.
func (b *Boost) over(now time.Time) bool {
	return !b.Until.IsZero() && !b.Until.After(now) || b.Usage > 0 && b.Had >= b.Usage
}

// boosting is the state of all boosts.
type boosting struct {
	slots  []boost
	free   freeList
	of     map[int32][]int32  // slots by pool, in order of their starts
	absent map[string][]int32 // slots by path, for pools that do not exist yet
	ends   []int32            // heap of slots by their end
	spent  map[int32]float64  // service of pools when their starter ended by usage
	ended  []Boost            // since the last call of EndedBoosts
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

// next is the predicted end of the next boost; zero if none ends.
func (b *boosting) next() time.Time {
	if len(b.ends) == 0 {
		return time.Time{}
	}
	return b.slots[b.ends[0]].end
}

// boost is an active boost.
type boost struct {
	Boost
	pool  int32     // -1: does not exist yet
	since time.Time // Had is as of this instant
	end   time.Time // predicted; zero: unknown
	place int32     // in the heap
}

// boostHeap orders boosts by end; boosts without an end are last.
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

// Pause keeps the jobs of a pool and of the pools below it from starting, until an instant or until
// [Scheduler.Resume]. Running tasks continue, and jobs may be submitted. The pool earns no entitlement in the
// meantime: it counts as having no demand, and returns like a pool that was away.
type Pause struct {
	Pool  string    // path; the pool need not exist yet
	Since time.Time // for people
	Until time.Time // zero: it does not end by itself
	Note  string    // for people, e.g. who set it, and why
}

func (p *Pause) over(now time.Time) bool { return !p.Until.IsZero() && !p.Until.After(now) }

// text describes the start and the end of a pause, and its note.
func (p *Pause) text() string {
	text := "since " + instant.Text(p.Since)
	if p.Until.IsZero() {
		text += ", until it is resumed"
	} else {
		text += ", until " + instant.Text(p.Until)
	}
	if p.Note != "" {
		text += ", " + p.Note
	}
	return text
}

// pausing is the state of all pauses.
type pausing struct {
	all   map[string]Pause // by path
	of    map[int32]string // path by pool, for existing pools
	next  time.Time        // first end of a pause; zero if none ends
	ended []Pause          // since the last call of EndedPauses
}

func (p *pausing) fork() {
	p.all, p.of, p.ended = maps.Clone(p.all), maps.Clone(p.of), nil
}

// retime recomputes the first end of a pause.
func (p *pausing) retime() {
	p.next = time.Time{}
	for _, x := range p.all {
		p.next = earlier(p.next, x.Until)
	}
}

// CheckFactor returns an error if a factor cannot be that of a boost.
func CheckFactor(f float64) error {
	if !(f >= leastFactor && f <= maxFactor) {
		return fmt.Errorf("the factor must be from %v to %v, got %v", leastFactor, maxFactor, f)
	}
	return nil
}

// PauseOf returns the pause that holds a pool: its own, or that of the nearest pool above.
func (v *overrides) PauseOf(id PoolID) (p Pause, paused bool) {
	if len(v.pauses.of) == 0 {
		return p, false
	}
	for at := int32(id); at >= 0; at = v.tree.pools[at].parent {
		if path, own := v.pauses.of[at]; own {
			return v.pauses.all[path], true
		}
	}
	return p, false
}

// pauseNew attaches a pause that waits for a new pool to it.
func (v *overrides) pauseNew(id int32) {
	if len(v.pauses.all) == 0 {
		return
	}
	if path := v.tree.Path(PoolID(id)); v.paused(path) {
		v.pauses.of[id] = path
	}
}

func (v *overrides) paused(path string) bool {
	_, paused := v.pauses.all[path]
	return paused
}

// EndedPauses returns the pauses that ended by themselves since the last call.
func (v *overrides) EndedPauses() []Pause {
	ended := v.pauses.ended
	v.pauses.ended = nil
	return ended
}

// openGate is the gate of a sub-queue without other closed gates.
func (v *overrides) openGate(leaf int32) gate {
	if _, paused := v.PauseOf(PoolID(leaf)); paused {
		return byPause
	}
	return noGate
}
