package sched

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// pauseGate holds the jobs of paused pools back. It notes no sub-queues: a pause holds all sub-queues of its pools at
// once, also the sub-queues behind another gate, because a paused pool has no demand. See [overrides.openGate].
type pauseGate struct {
	openKind
	h *gates
}

func (p *pauseGate) fork(h *gates) gateKind { return &pauseGate{h: h} }

func (p *pauseGate) sleeps() bool { return true }

// endPauses ends the pauses that are due. A pause ends at its instant, however late that is noticed, so it is no
// clockKind.
func (h *gates) endPauses() {
	if h.overrides.pauses.next.IsZero() || h.overrides.pauses.next.After(h.site.at) {
		return
	}
	all := slices.SortedFunc(maps.Values(h.overrides.pauses.all), func(a, b Pause) int {
		return cmp.Compare(a.Pool, b.Pool)
	})
	for _, p := range all {
		if p.over(h.site.at) {
			h.resume(p.Pool)
			h.overrides.pauses.ended = append(h.overrides.pauses.ended, p)
		}
	}
}

// resume ends a pause, and reports whether there was one.
func (h *gates) resume(pool string) bool {
	if _, there := h.overrides.pauses.all[pool]; !there {
		return false
	}
	delete(h.overrides.pauses.all, pool)
	h.overrides.pauses.retime()
	if id, there := h.tree.Lookup(pool); there {
		delete(h.overrides.pauses.of, int32(id))
		h.repause(int32(id))
	}
	return true
}

// repause holds back all sub-queues of a pool and of the pools below it, or lets them try again, after a pause began or
// ended. Sub-queues with another closed gate have to be checked in any case.
func (h *gates) repause(id int32) {
	h.site.events++
	h.reserve.backfill.plan = nil
	h.reserve.backfill.keep.left, h.reserve.backfill.keep.freed, h.reserve.backfill.keep.relist = true, true, true
	if in := h.tree.pools[id].inner; in >= 0 {
		for _, kid := range h.tree.inners[in].kids {
			h.repause(kid)
		}
		return
	}
	n := h.tree.pools[id].queue
	if n < 0 {
		return
	}
	g := h.overrides.openGate(id)
	for i := range h.queues.all[n].subs() {
		if sub := h.queues.all[n].sub(i); g == byPause || sub.gate == byPause {
			h.setGate(subRef{n, int32(i)}, g)
		}
	}
	h.turns.settle(id)
}

// ofPool returns the closed gate of a paused pool.
func (p *pauseGate) ofPool(id int32, _ cluster.Key) []why.Gate {
	path, paused := p.h.overrides.pauses.of[id]
	if !paused {
		return nil
	}
	of := p.h.overrides.pauses.all[path]
	g := why.Gate{Name: "pause", Where: cmp.Or(path, "root"), Code: why.GatePaused,
		Text: cmp.Or(share.Original(path), "root") + " is paused " + of.text()}
	if !of.Until.IsZero() {
		g.Next = &of.Until
	}
	return []why.Gate{g}
}
