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

// keptBefore is the job that room is kept for before which others of a shape may start: those
// who ask for a window have one of their own, as nobody else gets that room. 0 is none.
func (s *Scheduler) keptBefore(shape cluster.Shape) int64 {
	b, window := &s.backfill, s.cluster.Window(shape)
	if window == "" {
		return b.first.job
	}
	for i := range b.within {
		if s.cluster.Window(b.within[i].shape) == window {
			return b.within[i].job
		}
	}
	return 0
}

// setFirst notes the room that is kept for such a job.
func (s *Scheduler) setFirst(r *reserved) {
	if b := &s.backfill; s.cluster.Window(r.shape) == "" {
		b.first = *r
	} else {
		b.within = append(b.within, *r)
	}
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
