package sched

import "time"

// heads orders the ready sub-queues of a leaf pool by their first jobs, so that a leaf pool with many different
// requests finds its next job without visiting every sub-queue. A leaf pool has it only if its number of sub-queues is
// above the constant few. It is not used if minima are lacking or if jobs have priorities of their own.
type heads struct {
	heap []subHead
	pos  []int32 // by sub-queue: index in the heap, -1: not in it
}

type subHead struct {
	head
	sub int32
}

// head is the next job of a sub-queue: begun is -1 for a fresh job.
type head struct {
	id      int64
	since   time.Duration
	running int32
	begun   int32
	turn    time.Duration // see [begun]
}

// before reports whether a leaf pool serves job h before job g. A strict pool serves jobs in order of submission. Any
// other pool first serves the job with fewer running tasks or, among equals, the job whose tasks last started or ended
// longer ago. So single-task jobs take turns with arrays.
func (h head) before(g head, strict bool) bool {
	switch {
	case strict:
	case h.running != g.running:
		return h.running < g.running
	case h.turn != g.turn:
		return h.turn < g.turn
	}
	return h.id < g.id
}

// clear removes all sub-queues.
func (h *heads) clear() {
	h.heap = h.heap[:0]
	for k := range h.pos {
		h.pos[k] = -1
	}
}

func (h *heads) remove(at int32, strict bool) {
	h.pos[h.heap[at].sub] = -1
	last := int32(len(h.heap) - 1)
	e := h.heap[last]
	h.heap = h.heap[:last]
	if at == last {
		return
	}
	if at > 0 && e.before(h.heap[(at-1)/2].head, strict) {
		h.up(at, e, strict)
	} else {
		h.down(at, e, strict)
	}
}

func (h *heads) up(i int32, e subHead, strict bool) {
	for i > 0 && e.before(h.heap[(i-1)/2].head, strict) {
		h.put(i, h.heap[(i-1)/2])
		i = (i - 1) / 2
	}
	h.put(i, e)
}

func (h *heads) down(i int32, e subHead, strict bool) {
	for n := int32(len(h.heap)); ; {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && h.heap[c+1].before(h.heap[c].head, strict) {
			c++
		}
		if !h.heap[c].before(e.head, strict) {
			break
		}
		h.put(i, h.heap[c])
		i = c
	}
	h.put(i, e)
}

func (h *heads) put(i int32, e subHead) {
	h.heap[i] = e
	h.pos[e.sub] = i
}
