package sched

import "slices"

// forkRoom is where the copies of small slices stand, many in one piece of memory: of a hundred
// thousand of them each would be an object to be made and to be collected.
type forkRoom struct {
	lines []line
	heads []lineHead
	pos   []int32
	order []heads
}

// empty lets the room be used again.
func (r *forkRoom) empty() {
	r.lines, r.heads, r.pos, r.order = r.lines[:0], r.heads[:0], r.pos[:0], r.order[:0]
}

// idle reports whether nothing waits in a queue, and no line of it is held back.
func (q *queue) idle() bool {
	for i := range q.lines() {
		if l := q.line(i); l.tasks > 0 || l.gate != noGate {
			return false
		}
	}
	return true
}

// copied is a copy of a slice, in the rest of a piece or in a new one. It cannot grow into the next.
func copied[T any](room *[]T, s []T) []T {
	const piece = 1024
	if len(s) == 0 {
		return nil
	}
	if cap(*room)-len(*room) < len(s) {
		*room = make([]T, 0, max(piece, len(s)))
	}
	from := len(*room)
	*room = append(*room, s...)
	return (*room)[from:len(*room):len(*room)]
}

func (q *queue) fork(room *forkRoom) {
	q.more = copied(&room.lines, q.more)
	if q.ordered() {
		q.heads = &copied(&room.order, []heads{{copied(&room.heads, q.heads.heap), copied(&room.pos, q.heads.pos)}})[0]
	}
	for i := range q.lines() {
		l := q.line(i)
		l.fresh = l.fresh.clone()
		if len(l.begun) > 0 {
			l.begun = slices.Clone(l.begun)
		} else {
			l.begun = nil
		}
	}
}
