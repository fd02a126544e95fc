package sched

import "slices"

// forkRoom stores the copies of small slices, many in one piece of memory. A hundred thousand separate slices would
// be as many objects to allocate and collect.
type forkRoom struct {
	subs  []subQueue
	heads []subHead
	pos   []int32
	order []heads

	ranks  []rank
	orders []order
}

// empty makes the memory available for reuse.
func (r *forkRoom) empty() {
	r.subs, r.heads, r.pos, r.order = r.subs[:0], r.heads[:0], r.pos[:0], r.order[:0]
}

// idle reports whether a queue has no waiting tasks, and no sub-queue with a closed gate.
func (q *queue) idle() bool {
	for i := range q.subs() {
		if sub := q.sub(i); sub.tasks > 0 || sub.gate != noGate {
			return false
		}
	}
	return true
}

// copied copies a slice into the rest of a piece or into a new piece. The copy cannot grow into the next one.
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
	q.more = copied(&room.subs, q.more)
	if q.ordered() {
		q.heads = &copied(&room.order, []heads{{copied(&room.heads, q.heads.heap), copied(&room.pos, q.heads.pos)}})[0]
	}
	for i := range q.subs() {
		sub := q.sub(i)
		sub.fresh = sub.fresh.clone()
		if len(sub.begun) > 0 {
			sub.begun = slices.Clone(sub.begun)
		} else {
			sub.begun = nil
		}
	}
}
