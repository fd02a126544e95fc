package sched

import "slices"

// Room is the memory of a copy of a scheduler. A copy has megabytes, so most of its cost is new memory: after the copy
// is dropped, its room can take the next copy. The zero value is ready to use.
type Room struct {
	pools  []Pool
	queues []queue
	inners []inner
	runs   []run
	places [][]int32

	// Copies of small slices, many in one piece of memory. A hundred thousand separate slices would be as many objects
	// to allocate and collect.
	subs  []subQueue
	heads []subHead
	pos   []int32
	order []heads

	ranks  []rank
	orders []order
}

// empty makes the memory available for reuse.
func (r *Room) empty() {
	r.subs, r.heads, r.pos, r.order = r.subs[:0], r.heads[:0], r.pos[:0], r.order[:0]
	r.ranks, r.orders = r.ranks[:0], r.orders[:0]
}

// copyIn copies a slice over an old one, in its memory if it is large enough.
func copyIn[T any](old *[]T, s []T) []T {
	if cap(*old) < len(s) {
		*old = slices.Clone(s)
		return *old
	}
	*old = append((*old)[:0], s...)
	return *old
}

// copyAllIn copies slices over old ones.
func copyAllIn[T any](old *[][]T, all [][]T) [][]T {
	for len(*old) < len(all) {
		*old = append(*old, nil)
	}
	out := slices.Clone(all)
	for i := range out {
		out[i] = copyIn(&(*old)[i], out[i])
	}
	return out
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

// copied copies a slice into the rest of a piece or into a new, larger piece. The copy cannot grow into the next one.
func copied[T any](room *[]T, s []T) []T {
	const piece, most = 1024, 1 << 15
	if len(s) == 0 {
		return nil
	}
	if cap(*room)-len(*room) < len(s) {
		*room = make([]T, 0, max(piece, len(s), min(most, 2*cap(*room))))
	}
	from := len(*room)
	*room = append(*room, s...)
	return (*room)[from:len(*room):len(*room)]
}

func (q *queue) fork(room *Room) {
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
