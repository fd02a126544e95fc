package sched

import (
	"cmp"
	"maps"
	"slices"
)

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

// EndedPauses returns the pauses that ended by themselves since the last call.
func (v *overrides) EndedPauses() []Pause {
	ended := v.pauses.ended
	v.pauses.ended = nil
	return ended
}

// endPauses ends the pauses that are due.
func (h *gates) endPauses() {
	if h.overrides.pauses.next.IsZero() || h.overrides.pauses.next.After(h.site.at) {
		return
	}
	all := slices.SortedFunc(maps.Values(h.overrides.pauses.all), func(a, b Pause) int {
		return cmp.Compare(a.Pool,
			b.Pool)
	})
	for _, p := range all {
		if p.over(h.site.at) {
			h.resume(p.Pool)
			h.overrides.pauses.ended = append(h.overrides.pauses.ended, p)
		}
	}
}

// repause holds back all lines of a pool and of the pools below it, or lets them try again, after a pause began or
// ended. Lines with another closed gate have to be checked in any case.
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
	for i := range h.lines.queues[n].lines() {
		if l := h.lines.queues[n].line(i); g == byPause || l.gate == byPause {
			h.setGate(lineRef{n, int32(i)}, g)
		}
	}
	h.turns.settle(id)
}
