package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// gates hold lines back until something opens them: room, a maximum, a license, a rate, a window, a pause.
type gates struct {
	site      *site
	tree      *tree
	orders    *orders
	lines     *lines
	turns     *turns
	overrides *overrides
	quotas    *quotas
	reserve   *reserve
	running   *running

	noRoom    keyLines // lines that wait for room on some node
	windowing windowing
}

// admit finds a node for the job at the head of a line. If a node, maximum, license or rate lacks room for the
// line, it parks the line until that may have changed.
func (h *gates) admit(leaf int32, at lineRef, job int64) (cluster.NodeID, bool) {
	if !h.passes(leaf, at) {
		return 0, false
	}
	node, fits := h.nodeFor(at, job)
	if !fits && h.site.cfg.Backfill != FCFS {
		h.parkNoRoom(leaf, at)
	}
	return node, fits
}

// parkNoRoom parks a line that fits on no node.
func (h *gates) parkNoRoom(leaf int32, at lineRef) {
	h.noRoom.add(h.lines.line(at).key, at)
	h.park(leaf, at, byFit)
}

// passes reports whether no gate other than lack of room holds a line back. If a gate does, it parks the line.
func (h *gates) passes(leaf int32, at lineRef) bool {
	l := h.lines.line(at)
	for id := leaf; id >= 0; id = h.tree.pools[id].parent {
		if lim := h.tree.limits(id); lim != nil && !h.tree.admits(lim, id, l.key) {
			h.parkFull(leaf, at, id)
			return false
		}
	}
	if !h.untilOpen(leaf, at) {
		return false
	}
	t := h.quotas.needsOf(l.key)
	return t == nil || h.pay(leaf, at, t)
}

// nodeFor finds a node for a task of a line, by the backfill rule.
func (h *gates) nodeFor(at lineRef, job int64) (cluster.NodeID, bool) {
	if h.site.cfg.Backfill == EASY {
		return h.backfillOn(at, job)
	}
	l := h.lines.line(at)
	return h.reserve.find(l.key, l.limit)
}

func (h *gates) park(leaf int32, at lineRef, g gate) {
	h.setGate(at, g)
	h.regated(leaf)
}

// parkFull parks a line at the maximum of a pool.
func (h *gates) parkFull(leaf int32, at lineRef, full int32) {
	lim := h.tree.limits(full)
	lim.parked = append(lim.parked, at)
	h.putGate(at, byMax, full)
	h.regated(leaf)
}

// regated updates the place of a leaf pool after the gate of a line changed. A leaf pool that is compared by its
// account only, and has other ready lines, keeps its place.
func (h *gates) regated(leaf int32) {
	if p := &h.tree.pools[leaf]; p.seat.in && h.lines.queues[p.queue].ready > 0 && h.orders.byAccount(leaf) {
		return
	}
	h.turns.settle(leaf)
}

// byAccount reports whether the place of a leaf pool is the same whichever of its jobs find room.
func (ord *orders) byAccount(leaf int32) bool {
	in := ord.tree.parentOf(leaf)
	return in.as.keyed != nil && in.as.allot == nil && !in.first && !in.ranks && !ord.byResource()
}

// againFirst reports whether a chosen leaf pool would be chosen again for another line, after one of its lines
// found no room.
func (ord *orders) againFirst(leaf int32) bool {
	if !ord.byAccount(leaf) {
		return false
	}
	for id := leaf; id != int32(Root); id = ord.tree.pools[id].parent {
		if in := ord.tree.parentOf(id); in.as.keyed == nil || in.as.allot != nil || len(in.belowMin) > 0 {
			return false
		}
	}
	return true
}

// setGate sets the gate of a line, to any gate other than byMax.
func (h *gates) setGate(at lineRef, g gate) {
	if g == noGate {
		g = h.overrides.openGate(h.lines.queues[at.queue].pool)
	}
	h.putGate(at, g, -1)
}

func (h *gates) putGate(at lineRef, g gate, full int32) {
	q := &h.lines.queues[at.queue]
	l := q.line(int(at.line))
	bar, was := q.bar(l), l.ready()
	l.gate, l.full = g, full
	h.lines.count(q, at.line, was)
	if q.bar(l) != bar {
		h.lines.rebar(at, bar)
	}
}

// unpark lets parked lines try again.
func (h *gates) unpark(parked *[]lineRef) {
	refs := *parked
	*parked = nil
	h.reserve.backfill.keep.relist = h.reserve.backfill.keep.relist || len(refs) > 0
	if len(refs) > 0 {
		h.site.events++
	}
	for _, at := range refs {
		h.setGate(at, noGate)
		h.regated(h.lines.queues[at.queue].pool)
	}
}

// parkRoomless parks all lines of a leaf pool without room, if no other gate could hold them back.
func (h *gates) parkRoomless(leaf int32) {
	for id := leaf; id >= 0; id = h.tree.pools[id].parent {
		if h.tree.limits(id) != nil {
			return
		}
	}
	n := h.tree.pools[leaf].queue
	q := &h.lines.queues[n]
	for i, left := 0, q.ready; left > 0; i++ {
		l := q.line(i)
		if !l.ready() {
			continue
		}
		if left--; h.quotas.needsOf(l.key) == nil && !h.site.cluster.Room(l.key) {
			at := lineRef{n, int32(i)}
			h.noRoom.add(l.key, at)
			h.setGate(at, byFit)
		}
	}
	h.regated(leaf)
}

// openFits unparks the lines whose request fits on some node again.
func (h *gates) openFits() {
	if h.site.backfills() {
		return // see lookAgain
	}
	if h.site.cfg.Backfill == FCFS {
		h.openPossible()
		return
	}
	if h.site.cluster.Windows().Any() {
		refs := h.fitting()
		h.returning(&refs, byFit)
		return
	}
	for _, key := range h.noRoom.fitting(h.site.cluster) {
		refs := h.noRoom.take(key)
		h.returning(&refs, byFit)
	}
}

// openPossible unparks the lines whose request would now fit if no task ran: under [FCFS] only impossible requests
// are parked.
func (h *gates) openPossible() {
	if len(h.noRoom.active) == 0 {
		return
	}
	refs := h.noRoom.takeIf(slices.Sorted(slices.Values(h.noRoom.active)), nil, func(at lineRef) bool {
		return h.site.cluster.Empty().Could(h.lines.line(at).key)
	})
	h.returning(&refs, byFit)
}

// backfillOn finds a node for a task of a line. For the first task that finds no room, it keeps room at the
// earliest instant at which there will be some; after that, only tasks fit that do not need this room.
func (h *gates) backfillOn(at lineRef, job int64) (cluster.NodeID, bool) {
	l, b := h.lines.line(at), &h.reserve.backfill
	if job == b.patience.held.job {
		return 0, false // its turn has passed, see startHeld
	}
	if b.uniform {
		return h.reserve.findPaid(l.key, l.limit)
	}
	var node cluster.NodeID
	var fits bool
	if len(b.firsts) > 0 {
		node, fits = h.reserve.placeBehind(l.key, h.reserve.lengthAt(at))
	} else {
		node, fits = h.reserve.findPaid(l.key, l.limit)
	}
	switch {
	case fits:
	case h.reserve.keptAhead(l.key) != nil:
		b.behind++
	default:
		h.reserve.keepFirst(at, job)
	}
	return node, fits
}

// pay reports whether the licenses and rates of a line let a task start. If not, it parks the line at the first one
// that does not. If future room is planned, licenses are part of the room.
func (h *gates) pay(leaf int32, at lineRef, t *quotaNeeds) bool {
	tasks := h.site.atOnce(h.lines.line(at).key)
	if !h.site.backfills() {
		if l := h.quotas.lackingLicense(t, tasks); l != nil {
			l.parked = append(l.parked, at)
			h.park(leaf, at, byLicense)
			return false
		}
	}
	for _, n := range t.rates {
		if r := &h.quotas.rates[n]; r.Limit.Count > 0 && r.Tokens(h.site.at) < r.Least(tasks) {
			r.parked = append(r.parked, at)
			h.quotas.parkedRates++
			h.park(leaf, at, byRate)
			return false
		}
	}
	return true
}

// uncountStart gives the rate tokens of a start back: the task never ran.
func (h *gates) uncountStart(t *quotaNeeds) {
	for _, n := range t.rates {
		h.quotas.rates[n].give()
		h.openRate(&h.quotas.rates[n])
	}
}

// openLicenses lets lines that wait for a license try again if some are free.
func (h *gates) openLicenses(t *quotaNeeds) {
	for _, need := range t.licenses {
		if l := &h.quotas.licenses[need.license]; l.free() > 0 {
			h.returning(&l.parked, byLicense)
		}
	}
}

// openRates lets lines that wait for a rate try again if it has tokens.
func (h *gates) openRates() {
	if h.quotas.parkedRates == 0 {
		return
	}
	for i := range h.quotas.rates {
		h.openRate(&h.quotas.rates[i])
	}
}

func (h *gates) openRate(r *rate) {
	if len(r.parked) > 0 && r.Tokens(h.site.at) >= h.lines.leastOf(r) {
		h.quotas.parkedRates -= len(r.parked)
		h.returning(&r.parked, byRate)
	}
}

// returning unparks lines that a gate held back. Their pools were not absent, so they keep their old places. If
// they were moved up to the others, like pools that return from an absence, all pools that wait for the same
// license, the same maximum or a whole node would tie again and again, and the same pool would always go first.
func (h *gates) returning(parked *[]lineRef, g gate) {
	h.turns.keeping = g
	h.unpark(parked)
	h.turns.keeping = noGate
}

// passWindows lets windows begin and end.
func (h *gates) passWindows() {
	if h.site.cluster.PassWindows(h.site.instantOf()) {
		h.windowsChanged()
	}
}

// windowsChanged lets the lines that windows held back try again.
func (h *gates) windowsChanged() {
	h.site.events++
	h.turns.measure()
	h.turns.resized()
	h.returning(&h.windowing.parked, byWindow)
	h.openFits()
}

// untilOpen reports whether the window of a line is open, and parks the line if not. A preview also shows jobs that
// wait for a window.
func (h *gates) untilOpen(leaf int32, at lineRef) bool {
	if h.site.oneByOne || h.site.cluster.Windows().HasBegun(h.site.cluster.Window(h.lines.line(at).key)) {
		return true
	}
	h.windowing.parked = append(h.windowing.parked, at)
	h.park(leaf, at, byWindow)
	return false
}

// fitting removes and returns the lines that waited for room and now have it.
func (h *gates) fitting() []lineRef {
	return h.noRoom.takeIf(h.noRoom.fitting(h.site.cluster), nil,
		func(at lineRef) bool { return h.reserve.hasRoom(h.lines.line(at)) })
}

// somethingFits reports whether some job without a closed gate would fit on some node, so that a step without
// starts ends at once.
func (w *lines) somethingFits() bool {
	if r := &w.readyKeys; int(r.last) < len(r.n) && r.n[r.last] != 0 && w.site.cluster.Room(r.last) {
		return true
	}
	for _, key := range w.readyKeys.active {
		if w.site.cluster.Room(key) {
			w.readyKeys.last = key
			return true
		}
	}
	return false
}
