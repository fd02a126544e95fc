package sched

import "time"

// Memory gives a scheduler what it cannot know of the time before it was made, and what an
// administrator corrects of it. Running tasks are given by [Scheduler.Adopt], rates by
// [Scheduler.SetRate].
type Memory struct{ s *Scheduler }

// Memory returns the memory of the scheduler, to be written.
func (s *Scheduler) Memory() Memory { return Memory{s} }

// Known is knowledge of a pool from before a scheduler was made.
type Known struct {
	Pool string // path
	// First says since when the pool is there, and Had what it has received, not decayed, in slot-seconds, running
	// tasks included.
	First time.Time
	Had   float64
	// AsOf is the instant of the fields that follow, see [Memory.Levels]; zero if there are none. Their amounts are
	// decayed, in slot-seconds.
	AsOf time.Time
	// Policy is that of the pool's parent, if it is a [Carrier]. Level is the pool's level
	// by then, and Served the service that it had received, running tasks included. Waits: it had work to start.
	Policy        string
	Level, Served float64
	Waits         bool
	// Clock is the level at which a child of the pool comes in while no other waits, if its policy is a [Carrier].
	Clock float64
}

// Restore gives a leaf the service it received and the mean length of its tasks
// before the scheduler was made; amounts are as of now. Policies with a memory of
// their own begin afresh, unless [Memory.Know] tells of it.
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

// SetUsage gives a leaf the service that it received, as of now, and makes it count
// in the comparison at once.
func (m Memory) SetUsage(leaf PoolID, settled float64) {
	m.s.site.events++
	for id := int32(leaf); id >= 0; id = m.s.tree.pools[id].parent {
		m.s.tree.pools[id].Settled += settled
		if d := m.s.tree.pools[id].Days; d != nil {
			d.Advance(m.s.site.instant.Unix)
			d.Add(settled/m.s.site.now.Growth, m.s.site.instant.Unix, m.s.site.instant.Unix)
		}
	}
	m.s.turns.settle(int32(leaf))
}

// SetUsed sets what tasks of a leaf that ended have received, as of t, in slot-seconds. A
// pool with a standing of its own enters the comparison anew, like one that was away.
func (m Memory) SetUsed(leaf PoolID, used float64, t time.Time) {
	m.s.Advance(t)
	m.s.site.events++
	change := used*m.s.site.now.Growth - m.s.tree.pools[leaf].Settled
	for id := int32(leaf); id >= 0; id = m.s.tree.pools[id].parent {
		p, in := &m.s.tree.pools[id], m.s.tree.inAbove(id)
		level := 0.0
		carries := in != nil && in.as.carrier != nil
		if carries {
			level = m.s.tree.level(in) // before the change, which must not move the pool among the others
		}
		p.Settled = max(0, p.Settled+change)
		if carries {
			in.as.carrier.Carry(p, level, m.s.site.now)
		}
	}
	m.s.turns.settle(int32(leaf))
}

// SeedDays sets what tasks of leaves that ended received on n days, each given by an instant of it. It forgets
// all other days.
func (m Memory) SeedDays(n int, day func(i int) (leaf PoolID, amount float64, day time.Time)) {
	m.s.tree.clearDays()
	for i := range n {
		m.seedDay(day(i))
	}
}

func (m Memory) seedDay(leaf PoolID, amount float64, day time.Time) {
	for id := int32(leaf); id >= 0; id = m.s.tree.pools[id].parent {
		if d := m.s.tree.pools[id].Days; d != nil {
			d.Advance(m.s.site.instant.Unix)
			d.Add(amount, unix(day), unix(day))
		}
	}
	m.s.turns.settle(int32(leaf))
}

// DaysKept is how many days the policies count, 0 if none does, and whether there are
// pools that began to be compared by days since the last call: they know nothing of the
// days before.
func (m Memory) DaysKept() (n int, seed bool) { return m.s.tree.daysKept() }

// SetDeficit says what a leaf is owed as of now, in slot-seconds of the unit, where its
// policy counts that. The pools above are owed as much more.
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

// FarApartSince says since when the children of pools whose allotter stops tasks have been
// too far apart, if they are.
func (m Memory) FarApartSince(t time.Time) {
	for _, id := range m.s.tree.rebalancers {
		m.s.tree.inners[m.s.tree.pools[id].inner].over = t
	}
}

// Know tells the scheduler about pools that existed before it was made: the rest of their
// starters goes on, and so do their levels. It is called when all jobs are known. A pool that nobody tells it about
// begins when it is made.
func (m Memory) Know(pools []Known, t time.Time) {
	m.s.Advance(t)
	m.setLevels(pools)
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

// Protect says that no task of a job is stopped before an instant: one was stopped
// before this scheduler was made.
func (m Memory) Protect(job int64, until time.Time) { m.s.departures.protect(job, until) }

// Renew computes at once what the scheduler otherwise computes from time to time, such as the
// usage that goes into priorities. Callers that set the usage of pools need it.
func (m Memory) Renew() { m.s.turns.renewNow() }
