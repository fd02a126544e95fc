package explain

import (
	"sync"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/sched"
)

// Explainer answers questions about the waiting jobs of an engine. It caches costly results for a short time, and
// remembers the reasons why each pool waited.
type Explainer struct {
	loop *engine.Loop

	// Each has a lock of its own.
	order    Cached[Order]
	reasons  reasons
	previews previews
	rooms    sync.Pool // of *sched.Room
}

// New returns an explainer of an engine. It remembers no reasons before [Explainer.Remember].
func New(loop *engine.Loop) *Explainer { return &Explainer{loop: loop} }

// Room returns the memory of a copy of the scheduler that was dropped, for another copy. Call the function "free" when
// this copy is no longer used, too.
func (ex *Explainer) Room() (room *sched.Room, free func()) {
	room, _ = ex.rooms.Get().(*sched.Room)
	if room == nil {
		room = &sched.Room{}
	}
	return room, func() { ex.rooms.Put(room) }
}
