package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Windows: nodes are kept for those who asked for them, or for nobody, for a time. Room is
// looked for only where a task that keeps its limit is gone before a window begins that is
// not its own, under every placement; the plan of the future leaves windows out by itself.
// A job that asks for a window waits for its beginning at a gate, so that nobody waits
// behind it.

// windowing is what waits for windows.
type windowing struct {
	parked []lineRef // lines that ask for a window that is not open
}

// SetWindows puts windows into the place of those that there are. Their instants are in
// nanoseconds of [time.Time.UnixNano].
func (s *Scheduler) SetWindows(all []cluster.Window, t time.Time) {
	s.advance(t)
	s.cluster.SetWindows(all, s.instantOf())
	s.backfill.plan = nil
	s.windowsChanged()
}

// passWindows lets windows begin and end.
func (s *Scheduler) passWindows() {
	if s.cluster.PassWindows(s.instantOf()) {
		s.windowsChanged()
	}
}

// windowsChanged lets those try again that windows held back.
func (s *Scheduler) windowsChanged() {
	s.events++
	s.measure()
	s.resized()
	s.returning(&s.windowing.parked, byWindow)
	s.openFits()
}

// nextEdge is when the next window begins or ends; zero if none does.
func (s *Scheduler) nextEdge() time.Time {
	if at := s.cluster.NextEdge(); at != cluster.Forever {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// untilOpen parks a line whose window is not open, and reports whether it is open. A preview
// shows what waits for a window, too.
func (s *Scheduler) untilOpen(leaf int32, at lineRef) bool {
	if s.oneByOne || s.cluster.HasBegun(s.line(at).shape) {
		return true
	}
	s.windowing.parked = append(s.windowing.parked, at)
	s.park(leaf, at, byWindow)
	return false
}

// mayUse reports whether a task may start on nodes now and stay for as long as it may run, as
// far as windows go.
func (s *Scheduler) mayUse(nodes []cluster.NodeID, shape cluster.Shape, limit time.Duration) bool {
	now := s.instantOf()
	for _, id := range nodes {
		if !s.cluster.OpenFor(id, shape, now, now+planned(limit)) {
			return false
		}
	}
	return true
}

// hasRoom reports whether there is room for a task of a line.
func (s *Scheduler) hasRoom(l *line) bool {
	_, fits := s.find(l.shape, l.limit)
	return fits
}

// fitting removes from the lines that wait for room those for which there is some.
func (s *Scheduler) fitting() []lineRef {
	return s.noRoom.takeIf(s.noRoom.fitting(s.cluster), nil, func(at lineRef) bool { return s.hasRoom(s.line(at)) })
}

// keptAhead is the room that is kept for the job of which others of a shape may not take it: for
// the first of those who ask for the same window, or for none. Nil if there is none.
func (s *Scheduler) keptAhead(shape cluster.Shape) *reserved {
	b, window := &s.backfill, s.cluster.Window(shape)
	for i := range b.firsts {
		if r := &b.firsts[i]; s.cluster.Window(r.shape) == window {
			return r
		}
	}
	return nil
}

// ahead is the job before which one of a shape starts, as it does not need the room that is
// kept for that; 0 if there is none.
func (s *Scheduler) ahead(shape cluster.Shape) int64 {
	if r := s.keptAhead(shape); r != nil {
		return r.job
	}
	return 0
}

// isFirst reports whether room is kept for a job that goes before all others.
func (s *Scheduler) isFirst(j Job) bool {
	r := s.keptAhead(j.Shape)
	return r != nil && r.job == j.ID
}

// openSomewhere reports whether windows leave a node to a task for as long as it may run, if
// nothing else ran there.
func (s *Scheduler) openSomewhere(of ask) bool {
	if !s.cluster.Windowed() {
		return true
	}
	for id := range cluster.NodeID(len(s.cluster.Nodes())) {
		if s.cluster.Suits(id, of.shape) && s.mayUse([]cluster.NodeID{id}, of.shape, of.limit) {
			return true
		}
	}
	return false
}
