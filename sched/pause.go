package sched

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/why"
)

// Pause keeps what waits in a pool, and in those below it, from starting: until an instant,
// or until [Scheduler.Resume]. What runs goes on, and jobs may come. A pool is owed nothing
// for the time: it does not count as wanting anything, and comes back as one that was away.
type Pause struct {
	Pool  string    // path; the pool need not be there yet
	Since time.Time // for people
	Until time.Time // zero: it does not end by itself
	Note  string    // for people, e.g. by whom and why
}

func (p *Pause) over(now time.Time) bool { return !p.Until.IsZero() && !p.Until.After(now) }

// pausing is the state of all pauses.
type pausing struct {
	all   map[string]Pause // by path
	of    map[int32]string // paths, by the pools that are there
	next  time.Time        // at which the first of them ends; zero if none does
	ended []Pause          // since they were last asked for
}

func (p *pausing) fork() {
	p.all, p.of, p.ended = maps.Clone(p.all), maps.Clone(p.of), nil
}

// retime computes anew when the first pause ends.
func (p *pausing) retime() {
	p.next = time.Time{}
	for _, x := range p.all {
		p.next = earlier(p.next, x.Until)
	}
}

// Pause puts a pause into force, in the place of one of the same pool. One that is over
// already ends that, and itself.
func (s *Scheduler) Pause(p Pause, t time.Time) {
	s.advance(t)
	if p.over(s.at) {
		s.resume(p.Pool)
		s.pauses.ended = append(s.pauses.ended, p)
		return
	}
	if s.pauses.all == nil {
		s.pauses.all, s.pauses.of = map[string]Pause{}, map[int32]string{}
	}
	_, before := s.pauses.all[p.Pool]
	s.pauses.all[p.Pool] = p
	s.pauses.retime()
	if id, there := s.Lookup(p.Pool); there && !before {
		s.pauses.of[int32(id)] = p.Pool
		s.repause(int32(id))
	}
}

// Resume ends a pause before its time, and reports whether it was in force.
func (s *Scheduler) Resume(pool string, t time.Time) bool {
	s.advance(t)
	return s.resume(pool)
}

func (s *Scheduler) resume(pool string) bool {
	if _, there := s.pauses.all[pool]; !there {
		return false
	}
	delete(s.pauses.all, pool)
	s.pauses.retime()
	if id, there := s.Lookup(pool); there {
		delete(s.pauses.of, int32(id))
		s.repause(int32(id))
	}
	return true
}

// Pauses lists the pauses in force, by pool.
func (s *Scheduler) Pauses() []Pause {
	return slices.SortedFunc(maps.Values(s.pauses.all), func(a, b Pause) int { return cmp.Compare(a.Pool, b.Pool) })
}

// PauseOf is the pause that holds a pool: its own, or that of the nearest pool above.
func (s *Scheduler) PauseOf(id PoolID) (p Pause, paused bool) {
	if len(s.pauses.of) == 0 {
		return p, false
	}
	for at := int32(id); at >= 0; at = s.pools[at].parent {
		if path, own := s.pauses.of[at]; own {
			return s.pauses.all[path], true
		}
	}
	return p, false
}

// EndedPauses returns the pauses that ended by themselves since it was called last.
func (s *Scheduler) EndedPauses() []Pause {
	ended := s.pauses.ended
	s.pauses.ended = nil
	return ended
}

// endPauses ends those whose end has come.
func (s *Scheduler) endPauses() {
	if s.pauses.next.IsZero() || s.pauses.next.After(s.at) {
		return
	}
	for _, p := range s.Pauses() {
		if p.over(s.at) {
			s.resume(p.Pool)
			s.pauses.ended = append(s.pauses.ended, p)
		}
	}
}

// pauseNew ties a pause that waits for a pool to it.
func (s *Scheduler) pauseNew(id int32) {
	if len(s.pauses.all) == 0 {
		return
	}
	if path := s.Path(PoolID(id)); s.paused(path) {
		s.pauses.of[id] = path
	}
}

func (s *Scheduler) paused(path string) bool {
	_, paused := s.pauses.all[path]
	return paused
}

// openGate is the gate of a line of a leaf that nothing else holds back.
func (s *Scheduler) openGate(leaf int32) gate {
	if _, paused := s.PauseOf(PoolID(leaf)); paused {
		return byPause
	}
	return noGate
}

// repause holds back all lines of a pool and of those below it, or lets them try, after a
// pause began or ended. A line that something else held back has to be looked at anyway.
func (s *Scheduler) repause(id int32) {
	s.events++
	s.backfill.plan = nil
	s.backfill.keep.left, s.backfill.keep.freed, s.backfill.keep.relist = true, true, true
	if in := s.pools[id].inner; in >= 0 {
		for _, kid := range s.inners[in].kids {
			s.repause(kid)
		}
		return
	}
	n := s.pools[id].queue
	if n < 0 {
		return
	}
	g := s.openGate(id)
	for i := range s.queues[n].lines() {
		if l := s.queues[n].line(i); g == byPause || l.gate == byPause {
			s.setGate(lineRef{n, int32(i)}, g)
		}
	}
	s.settle(id)
}

// pauseGate says that a pool is paused.
func (s *Scheduler) pauseGate(id int32) (g why.Gate, paused bool) {
	path, paused := s.pauses.of[id]
	if !paused {
		return g, false
	}
	p := s.pauses.all[path]
	g = why.Gate{Name: "pause", Where: cmp.Or(path, "root"), Code: why.GatePaused, Text: cmp.Or(path, "root") + " is paused " + p.text(s.at)}
	if !p.Until.IsZero() {
		g.Next = &p.Until
	}
	return g, true
}

// text says whose a pause is, and from when to when.
func (p *Pause) text(now time.Time) string {
	text := "since " + why.Clock(p.Since, now)
	if p.Until.IsZero() {
		text += ", until it is resumed"
	} else {
		text += ", until " + why.Clock(p.Until, now)
	}
	if p.Note != "" {
		text += ", " + p.Note
	}
	return text
}
