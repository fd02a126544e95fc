package forecast

import (
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/sched"
)

// borrowed is the memory of the copies of the scheduler that one question needs.
type borrowed struct {
	explain *explain.Explainer
	frees   []func()
}

// room returns the memory of one copy until drop is called.
func (b *borrowed) room() *sched.Room {
	room, free := b.explain.Room()
	b.frees = append(b.frees, free)
	return room
}

// drop lets others use the memory of all copies, which must not be read any more.
func (b *borrowed) drop() {
	for _, free := range b.frees {
		free()
	}
}
