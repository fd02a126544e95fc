package beanstalkd

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

// index contains the entries of a range of numbers. The server gives no new job a number of this range.
// So if an entry of the range is not in the index, it does not exist.
type index struct {
	mu        sync.Mutex // held while searching numbers
	low, high uint64     // the range: from low up to, but not including, high
	marks     time.Time  // time of the mark at low; zero: no mark
	ids       map[string]uint64
	// floors holds, for each marker that this process sent, a number that was given before.
	floors sync.Map
}

// reset forgets everything, because a new connection may lead to another server.
func (x *index) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clear()
}

func (x *index) clear() {
	x.low, x.high, x.marks = 0, 0, time.Time{}
	clear(x.ids)
}

// enough reports whether the searched range must contain all entries. It assumes that no clock is wrong
// by a day or more.
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
