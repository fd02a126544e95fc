package explain

import (
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
	rooms    rooms
}

// New returns an explainer of an engine. It remembers no reasons before [Explainer.Remember].
func New(loop *engine.Loop) *Explainer { return &Explainer{loop: loop} }

// Room returns memory for a copy of the scheduler. Call the function "free" when the copy is no longer used.
func (ex *Explainer) Room() (room *sched.Room, free func()) { return ex.rooms.take() }
