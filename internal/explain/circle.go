package explain

import (
	"time"

	"github.com/fairlead/fairlead/sched"
)

// circle visits the pools of a scheduler one after another, and begins again after the last one.
type circle struct {
	core    *sched.Scheduler
	next    int
	visited []time.Time // by pool: its last visit
}

// prepare makes place for new pools, which count as visited at the instant "since". The pools of another scheduler are
// all new.
func (c *circle) prepare(core *sched.Scheduler, since time.Time) {
	if c.core != core {
		*c = circle{core: core}
	}
	for len(c.visited) < core.Read().Pools() {
		c.visited = append(c.visited, since)
	}
}

// visit returns the next pool, and when it was visited before.
func (c *circle) visit(now time.Time) (id sched.PoolID, before time.Time) {
	at := c.next
	c.next = (at + 1) % len(c.visited)
	before, c.visited[at] = c.visited[at], now
	return sched.PoolID(at), before
}
