package sched

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Under [EASY] each step asks the policy which of the jobs without room goes first. To answer, all sub-queues without
// room try again, and a search visits all nodes for the earliest room of the first job. With many sub-queues and
// nodes, that is too much work for each end of a task. In that case the first job keeps its planned start for some
// steps, and only sub-queues that find room behind it try again. All sub-queues try again after enough events to
// justify the work, or after longestStay.

// firstsStay reports whether the first jobs stay first in this step, and moves their room to nodes with ended tasks
// if it begins earlier there.
func (h *gates) firstsStay() bool {
	b := &h.reserve.backfill
	work := h.noRoom.subs + len(h.site.cluster.Nodes())/8
	events := int(b.events - b.looks.events)
	if len(b.firsts) == 0 || b.stable || events >= h.site.eventsPerLook(work) || len(b.looks.freed) > cheapLook ||
		h.site.instantOf()-b.looks.at >= int64(longestStay) || h.site.cluster.Windows().Any() ||
		b.patience.takesOver() {
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

// eventsPerLook is the number of events after which all sub-queues try again. The argument "work" is the number of
// sub-queues plus an eighth of the number of nodes.
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
	sub := h.queues.sub(r.at)
	if !h.queues.waitsForRoom(r) || sub.gate != byFit || h.queues.head(sub, true).id != r.job {
		return false
	}
	if _, fits := h.reserve.findPaid(r.key, sub.limit); fits {
		return false
	}
	if r.held || len(r.nodes) > 1 || h.quotas.holdsLicense(r.key) {
		return true
	}
	h.reserve.moveToFreed(r)
	return r.from > h.site.instantOf()
}

// moveToFreed moves the room of a first job to a node with an ended task, if it begins earlier there.
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
	f.promise(r)
	kept := cluster.KeptOf(f.site.cluster)
	kept.Release()
	for i := range b.firsts {
		kept.Add(b.firsts[i].nodes...)
	}
}

// lookBehind lets the sub-queues that find room behind the first jobs try again.
func (h *gates) lookBehind() {
	if fit := h.fittingPaid(); len(fit) > 0 {
		h.tryAgain(h.findBehind(fit))
	}
}

// findBehind returns the sub-queues that find room behind the first jobs, and removes them from the list. It looks
// only at sub-queues without room that have one of the keys. Of two sub-queues with the same key, both with or both
// without a time limit, the shorter one finds room if the longer one does, so few searches suffice.
func (h *gates) findBehind(keys []cluster.Key) []subRef {
	b := &h.reserve.backfill
	key, endless, fits, fails := cluster.Key(-1), false, int64(0), int64(0)
	all := h.noRoom.takeIf(keys, b.tries[:0], func(at subRef) bool {
		sub := h.queues.sub(at)
		if sub.key != key || (sub.limit == 0) != endless {
			key, endless, fits, fails = sub.key, sub.limit == 0, -1, cluster.Forever
		}
		length := h.reserve.lengthAt(at)
		if length > fits && length < fails {
			if _, found := h.reserve.placeBehind(key, length, sub.limit); found {
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

// tryAgain opens sub-queues that found no room. They keep their old places.
func (h *gates) tryAgain(all []subRef) {
	h.turns.keeping = byFit
	for _, at := range all {
		h.setGate(at, noGate)
	}
	for i, at := range all {
		if i == 0 || at.queue != all[i-1].queue {
			h.turns.settle(h.queues.all[at.queue].pool)
		}
	}
	h.turns.keeping = noGate
}

// fittingPaid lists the keys of sub-queues without room that now have room and free licenses.
func (h *gates) fittingPaid() []cluster.Key {
	return slices.DeleteFunc(h.noRoom.fitting(h.site.cluster), func(key cluster.Key) bool { return !h.quotas.licensesFree(key) })
}

// nextLate is the next instant at which a running task is late. The kept room of a first job then begins later, and
// others may start before it. nextLate is zero if no job waits for that.
func (h *gates) nextLate() time.Time {
	b := &h.reserve.backfill
	if b.plan == nil || len(b.firsts) == 0 {
		return time.Time{}
	}
	for len(b.ends) > 0 {
		e := b.ends[0]
		if r := &h.running.runs[e.run]; r.used && r.serial == e.serial && r.until == e.until {
			return time.Unix(0, e.until)
		}
		b.ends.pop()
	}
	return time.Time{}
}

// someoneIsLate reports whether a running task is late, and some waiting job has room now.
func (h *gates) someoneIsLate() bool {
	b := &h.reserve.backfill
	if len(b.ends) == 0 || b.ends[0].until > h.site.instantOf() {
		return false
	}
	at := h.nextLate()
	return !at.IsZero() && !at.After(h.site.at) && (len(h.fittingPaid()) > 0 || h.queues.somethingFits())
}
