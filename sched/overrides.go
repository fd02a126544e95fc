package sched

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
)

// overrides are what administrators decide for a while: boosts and pauses of pools.
type overrides struct {
	site   *site
	tree   *tree
	orders *orders
	turns  *turns

	boosts boosting
	pauses pausing
}

// Boost multiplies the weight of a pool until an instant, or until the pool has
// received some service. Several boosts of a pool multiply.
type Boost struct {
	ID      int64  // chosen by the caller; 0 for boosts that the scheduler begins itself
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
	leastFactor = 1e-3
	maxFactor   = 1e3
)

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

// boost is one that is in force.
type boost struct {
	Boost
	pool  int32     // -1: not there yet
	since time.Time // Had is as of this instant
	end   time.Time // as things are now; zero: none in sight
	place int32     // in the heap
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

// Pause keeps the jobs of a pool and of the pools below it from starting, until an instant
// or until [Scheduler.Resume]. Running tasks go on, and jobs may come. A pool is owed nothing
// for the time: it does not count as wanting anything, and comes back as one that was away.
type Pause struct {
	Pool  string    // path; the pool need not be there yet
	Since time.Time // for people
	Until time.Time // zero: it does not end by itself
	Note  string    // for people, e.g. by whom and why
}

func (p *Pause) over(now time.Time) bool { return !p.Until.IsZero() && !p.Until.After(now) }

// text says whose a pause is, and from when to when.
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
	of    map[int32]string // paths, by the pools that are there
	next  time.Time        // at which the first of them ends; zero if none does
	ended []Pause          // since they were last asked for
}

func (p *pausing) fork() {
	p.all, p.of, p.ended = maps.Clone(p.all), maps.Clone(p.of), nil
}

// retime computes anew when the first pause ends.
func (p *pausing) retime() {
	p.next = time.Time{}
	for _, x := range p.all {
		p.next = earlier(p.next, x.Until)
	}
}

// CheckFactor says why a factor cannot be one of a boost.
func CheckFactor(f float64) error {
	if !(f >= leastFactor && f <= maxFactor) {
		return fmt.Errorf("the factor must be from %v to %v, got %v", leastFactor, maxFactor, f)
	}
	return nil
}

// PauseOf is the pause that holds a pool: its own, or that of the nearest pool above.
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

// pauseNew ties a pause that waits for a pool to it.
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

// openGate is the gate of a line of a leaf that nothing else holds back.
func (v *overrides) openGate(leaf int32) gate {
	if _, paused := v.PauseOf(PoolID(leaf)); paused {
		return byPause
	}
	return noGate
}
