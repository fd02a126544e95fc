package memory

import (
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// limits holds the rates, and the amounts of licenses that attempts hold.
type limits struct {
	rates map[string]sched.RateState
	holds map[queue.Ref][]sched.Held // of running attempts
	held  map[string]int64           // sums of holds
}

// hold counts the amounts that an attempt holds, until drop is called.
func (t *limits) hold(ref queue.Ref, holds []sched.Held) {
	if len(holds) == 0 {
		return
	}
	t.holds[ref] = holds
	for _, h := range holds {
		t.held[h.Of] += h.Amount
	}
}

func (t *limits) drop(ref queue.Ref) {
	for _, h := range t.holds[ref] {
		if t.held[h.Of] -= h.Amount; t.held[h.Of] == 0 {
			delete(t.held, h.Of)
		}
	}
	delete(t.holds, ref)
}
