package sched

import (
	"time"

	"github.com/fairlead/fairlead/why/room"
)

// Memory gives a scheduler the knowledge of the time before it was created, and the corrections of administrators.
// [Scheduler.Adopt] adds running tasks, and [Scheduler.SetRate] sets rates.
type Memory struct{ s *Scheduler }

// Memory returns the memory of the scheduler, for writing.
func (s *Scheduler) Memory() Memory { return Memory{s} }

// Known is knowledge about a pool from before the scheduler was created.
type Known struct {
	Pool string // path
	// First is when the pool was created. Had is the undecayed service that it has received, in slot-seconds,
	// including running tasks.
	First time.Time
	Had   float64
	// AsOf is the instant of the following fields, see [Memory.Levels]; zero if they are not set. Their amounts are
	// decayed, in slot-seconds.
	AsOf time.Time
	// Policy is the policy of the pool's parent, if it is a [Carrier]. Level is the level of the pool at AsOf,
	// Served the service that it had received, including running tasks, and Waits whether it had work to start.
	Policy        string
	Level, Served float64
	Waits         bool
	// Clock is the level at which a child joins while no other waits, if the policy of the pool is a [Carrier].
	Clock float64
	// Turns, of the root, are those of the jobs of all pools.
	Turns []room.Turn
}

// Restore gives a leaf pool the service and the mean task length from before the scheduler was created; amounts are
// as of now. Policies with a memory of their own start afresh, unless [Memory.Know] restores it.
func (m Memory) Restore(leaf PoolID, settled, mean, seen float64) {
	for id := int32(leaf); id >= 0; id = m.s.tree.pools[id].parent {
		p := &m.s.tree.pools[id]
		p.Settled += settled
		if seen > 0 {
			p.Seen += seen
			p.Mean += (mean - p.Mean) * seen / p.Seen
		}
		if in := m.s.tree.inAbove(id); in != nil && in.as.carrier != nil {
			in.as.carrier.Carry(p, 0, m.s.site.now)
		}
	}
	m.s.tree.expect(int32(leaf), 0, 0)
	m.s.turns.expectAgain(int32(leaf))
	m.s.turns.settle(int32(leaf))
}

// SetUsage adds service to a leaf pool, as of now, which counts in the comparison at once.
func (m Memory) SetUsage(leaf PoolID, settled float64) {
	m.s.site.events++
	for id := int32(leaf); id >= 0; id = m.s.tree.pools[id].parent {
		m.s.tree.pools[id].Settled += settled
		if d := m.s.tree.daysOf(&m.s.tree.pools[id]); d != nil {
			d.Advance(m.s.site.instant.Unix)
			d.Add(settled/m.s.site.now.Growth, m.s.site.instant.Unix, m.s.site.instant.Unix)
		}
	}
	m.s.turns.settle(int32(leaf))
}

// SetUsed sets the service of the ended tasks of a leaf pool, as of t, in slot-seconds. A pool under a [Carrier]
// joins the comparison anew, like one that was away.
func (m Memory) SetUsed(leaf PoolID, used float64, t time.Time) {
	m.s.Advance(t)
	m.s.site.events++
	change := used*m.s.site.now.Growth - m.s.tree.pools[leaf].Settled
	for id := int32(leaf); id >= 0; id = m.s.tree.pools[id].parent {
		p, in := &m.s.tree.pools[id], m.s.tree.inAbove(id)
		level := 0.0
		carries := in != nil && in.as.carrier != nil
		if carries {
			level = m.s.tree.level(in) // taken before the change, which must not move the pool among the others
		}
		p.Settled = max(0, p.Settled+change)
		if carries {
			in.as.carrier.Carry(p, level, m.s.site.now)
		}
	}
	m.s.turns.settle(int32(leaf))
}

// SeedDays sets the service of the ended tasks of leaf pools, from n entries, each with some instant of its day. It
// drops all earlier records of days.
func (m Memory) SeedDays(n int, day func(i int) (leaf PoolID, amount float64, day time.Time)) {
	m.s.tree.clearDays()
	for i := range n {
		m.seedDay(day(i))
	}
}

func (m Memory) seedDay(leaf PoolID, amount float64, day time.Time) {
	for id := int32(leaf); id >= 0; id = m.s.tree.pools[id].parent {
		if d := m.s.tree.daysOf(&m.s.tree.pools[id]); d != nil {
			d.Advance(m.s.site.instant.Unix)
			d.Add(amount, unix(day), unix(day))
		}
	}
	m.s.turns.settle(int32(leaf))
}

// DaysKept returns the number of days that the policies count, 0 if none does. The result "seed" means that some pools
// began to count by days since the last call, and know no earlier days.
func (m Memory) DaysKept() (n int, seed bool) { return m.s.tree.daysKept() }

// SetDeficit adds to the deficit of a leaf pool as of now, in slot-seconds of the unit, if its policy counts
// deficits. It adds the same amount to the deficits of the pools above.
func (m Memory) SetDeficit(leaf PoolID, owed float64) {
	for id := int32(leaf); id > 0; id = m.s.tree.pools[id].parent {
		in := m.s.tree.parentOf(id)
		if in.deficits == nil {
			continue
		}
		in.deficits.grow(1, m.s.site.seconds())
		d := in.deficits.of[0]
		d.Advance(m.s.site.seconds())
		kid := int(m.s.tree.pools[id].seat.kid)
		d.Owe(kid, owed+d.Ideal(kid)-d.Received(kid))
	}
	m.s.turns.settle(int32(leaf))
}

// FarApartSince sets the instant since which the children of pools whose allotter stops tasks have been too far
// apart, if they are.
func (m Memory) FarApartSince(t time.Time) {
	for _, id := range m.s.tree.rebalancers {
		m.s.tree.inners[m.s.tree.pools[id].inner].over = t
	}
}

// Know restores pools that existed before the scheduler was created: their starters and their levels continue. Call
// it when all jobs are known. A pool that is not in the list counts as new. Jobs that were first without room get
// back their turns, with the instants at which these began.
func (m Memory) Know(pools []Known, t time.Time) {
	m.s.Advance(t)
	m.setLevels(pools)
	m.setTurns(pools)
	m.s.tree.ownNames()
	var changed []int32
	for _, k := range pools {
		id, there := m.s.tree.Lookup(k.Pool)
		if !there || id == Root || k.First.IsZero() {
			continue
		}
		m.s.tree.labels[id].first = k.First
		m.s.overrides.restart(int32(id), k.Had)
		changed = append(changed, int32(id))
	}
	m.s.overrides.reweigh(changed...)
}

// Protect keeps the tasks of a job from being stopped before an instant, because one was stopped before this
// scheduler was created.
func (m Memory) Protect(job int64, until time.Time) { m.s.departures.protect(job, until) }

// Renew recomputes at once the values that the scheduler otherwise recomputes at intervals, such as the usage in
// priorities. Callers that set the usage of pools must call it.
func (m Memory) Renew() { m.s.turns.renewNow() }
