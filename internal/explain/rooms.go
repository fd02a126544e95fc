package explain

import (
	"sync"

	"github.com/fairlead/fairlead/sched"
)

// rooms keeps the memory of dropped copies of the scheduler for the next copies. New memory is most of the cost of a
// copy: the operating system has to provide megabytes of it, page by page.
type rooms struct {
	mu   sync.Mutex
	free []*sched.Room
}

// roomsKept is the maximum number of rooms without a copy: as many as a what-if needs at a time.
const roomsKept = 6

// take returns a room, and the function that gives it back.
func (r *rooms) take() (room *sched.Room, free func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.free) - 1; last >= 0 {
		room, r.free = r.free[last], r.free[:last]
	} else {
		room = &sched.Room{}
	}
	return room, func() { r.put(room) }
}

func (r *rooms) put(room *sched.Room) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.free) < roomsKept {
		r.free = append(r.free, room)
	}
}
