package beanstalkd

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

// index has the entries of a range of numbers. No job gets a number of the range any more,
// so an entry that is not in the index does not exist.
type index struct {
	mu        sync.Mutex // held while numbers are searched
	low, high uint64     // searched are those from low up to, and without, high
	marks     time.Time  // time of the mark at low; zero: none is there
	ids       map[string]uint64
	// floors are numbers that were given before a marker was sent, by this process.
	floors sync.Map
}

// reset forgets all: another connection may be to another server.
func (x *index) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clear()
}

func (x *index) clear() {
	x.low, x.high, x.marks = 0, 0, time.Time{}
	clear(x.ids)
}

// enough reports whether entries can only be in the range that was searched already. It assumes that
// clocks are never wrong by a day.
func (x *index) enough(all []bridge.Entry) bool {
	for _, e := range all {
		_, found := x.ids[e.Marker]
		floor, ours := x.floors.Load(e.Marker)
		before := !x.marks.IsZero() && !e.Submitted.IsZero() && x.marks.Before(e.Submitted.Add(-24*time.Hour))
		if !found && !before && (!ours || x.low > floor.(uint64)) {
			return false
		}
	}
	return true
}
