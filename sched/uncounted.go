package sched

// holdUncounted applies the kinds of gates that have no numbers in the evidence: they hold jobs back, so that the
// evidence leaves these jobs out.
func (h *gates) holdUncounted() {
	before := h.site.oneByOne
	h.site.oneByOne = true // a preview also shows jobs that wait for a window
	defer func() { h.site.oneByOne = before }()
	h.wake()
	h.holdReady(h.uncounted())
}

// holdReady holds each ready sub-queue back if one of the kinds does.
func (h *gates) holdReady(kinds []gate) {
	if len(kinds) == 0 {
		return
	}
	for n := range h.queues.all {
		q := &h.queues.all[n]
		for i := range q.subs() {
			if sub := q.sub(i); sub.gate == noGate && sub.ready() {
				h.holdBy(kinds, q.pool, subRef{int32(n), int32(i)})
			}
		}
	}
}

// uncounted lists the kinds that do not sleep and have no numbers in the evidence.
func (h *gates) uncounted() (kinds []gate) {
	for _, g := range h.awake {
		if _, counted := h.kinds[g-byMax].(countKind); !counted {
			kinds = append(kinds, g)
		}
	}
	return kinds
}

// holdBy holds a sub-queue back if one of the kinds does.
func (h *gates) holdBy(kinds []gate, leaf int32, at subRef) {
	for _, g := range kinds {
		if h.holds(g, leaf, at) {
			return
		}
	}
}
