package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// Under [EASY] each step asks the policy which of the jobs without room goes first. To answer, all lines
// that found no room try again, and all nodes are searched for the earliest room of the first. Where there
// are many lines and nodes that is too much work for the end of one task. There the first keeps its room
// for some steps, and lines try again that find room behind it. All look again when as many events have come
// as pay for it, or after longestStay.

// firstsStay reports whether the jobs that were first stay so in this step, and moves their room to nodes
// on which tasks have ended if it begins earlier there.
func (h *gates) firstsStay() bool {
	b := &h.reserve.backfill
	work := h.noRoom.lines + len(h.site.cluster.Nodes())/8
	events := int(b.events - b.looks.events)
	if len(b.firsts) == 0 || b.stable || events >= h.site.eventsPerLook(work) || len(b.looks.freed) > cheapLook ||
		h.site.instantOf()-b.looks.at >= int64(longestStay) || h.site.cluster.Windows().Any() {
		return false
	}
	for i := range b.firsts {
		if !h.staysFirst(&b.firsts[i]) {
			return false
		}
	}
	b.looks.freed = b.looks.freed[:0]
	return true
}

// eventsPerLook is after how many events all lines look again, with the lines and eights of nodes that there are.
func (m *site) eventsPerLook(work int) int {
	switch {
	case m.rarely:
		return work
	case work <= cheapLook:
		return 0
	}
	return work / stayShare
}

// staysFirst reports whether a job still waits for room, and finds none now.
func (h *gates) staysFirst(r *reserved) bool {
	l := h.lines.line(r.at)
	if !h.lines.waitsForRoom(r) || l.gate != byFit || h.lines.head(l, true).id != r.job {
		return false
	}
	if _, fits := h.reserve.findPaid(r.key, l.limit); fits {
		return false
	}
	if r.held || len(r.nodes) > 1 || h.quotas.holdsLicense(r.key) {
		return true
	}
	h.reserve.moveToFreed(r)
	return r.from > h.site.instantOf()
}

// moveToFreed moves the room of a first job to where a task has ended if it begins earlier there.
func (f *reserve) moveToFreed(r *reserved) {
	b, now, was := &f.backfill, f.site.instantOf(), r.from
	for _, node := range b.looks.freed {
		if from, sooner := b.plan.SoonerOn(node, r.key, r.to-r.from, now, r.from, r.nodes[0]); sooner {
			f.moveRoom(r, from, node)
		}
	}
	if r.from == was {
		return
	}
	kept := cluster.KeptOf(f.site.cluster)
	kept.Release()
	for i := range b.firsts {
		kept.Add(b.firsts[i].nodes...)
	}
}

// lookBehind lets those lines try again that find room behind the first jobs.
func (h *gates) lookBehind() {
	if fit := h.fittingPaid(); len(fit) > 0 {
		h.tryAgain(h.findBehind(fit))
	}
}

// findBehind takes those lines with one of the keys from the lines without room that find some behind the
// first jobs. Of two lines with a key the one that is planned to be shorter finds room where the other does,
// so that few of them have to be looked for.
func (h *gates) findBehind(keys []cluster.Key) []lineRef {
	b := &h.reserve.backfill
	key, fits, fails := cluster.Key(-1), int64(0), int64(0)
	all := h.noRoom.takeIf(keys, b.tries[:0], func(at lineRef) bool {
		if l := h.lines.line(at); l.key != key {
			key, fits, fails = l.key, -1, cluster.Forever
		}
		length := h.reserve.lengthAt(at)
		if length > fits && length < fails {
			if _, found := h.reserve.placeBehind(key, length); found {
				fits = length
			} else {
				fails = length
			}
		}
		return length <= fits
	})
	b.tries = all[:0]
	return all
}

// tryAgain opens lines that found no room. They come in where they stood.
func (h *gates) tryAgain(all []lineRef) {
	h.turns.keeping = byFit
	for _, at := range all {
		h.setGate(at, noGate)
	}
	for i, at := range all {
		if i == 0 || at.queue != all[i-1].queue {
			h.turns.settle(h.lines.queues[at.queue].pool)
		}
	}
	h.turns.keeping = noGate
}

// fittingPaid lists the keys that wait for room and have some now, and the
// licences.
func (h *gates) fittingPaid() []cluster.Key {
	return slices.DeleteFunc(h.noRoom.fitting(h.site.cluster), func(key cluster.Key) bool { return !h.quotas.licensesFree(key) })
}
