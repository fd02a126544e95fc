package sched

import "github.com/fairlead/fairlead/cluster"

// firstFit is the rule [FirstFit].
type firstFit struct{}

func (firstFit) name() string { return "first-fit" }

func (firstFit) plans() planning { return plansNone }

func (firstFit) strict() bool { return false }

func (firstFit) begin(*departures) {}

func (firstFit) start(s *Scheduler, limit int, d *Decision) { s.placement.drawAll(limit, d) }

func (firstFit) settled(*backfilling) bool { return false }

func (firstFit) node(h *gates, at subRef, _ int64) (cluster.NodeID, bool) {
	sub := h.queues.sub(at)
	return h.reserve.find(sub.key, sub.limit)
}

func (firstFit) reopen(h *gates) {
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

// firstFit makes the gates follow the rule.
func (h *gates) firstFit() {
	h.site.cfg.Backfill = FirstFit
	h.use(firstFit{}, firstFit{}.plans(), firstFit{}.strict())
}

// fitting removes and returns the sub-queues that waited for room and now have it.
func (h *gates) fitting() []subRef {
	return h.noRoom.takeIf(h.noRoom.fitting(h.site.cluster), nil,
		func(at subRef) bool { return h.reserve.hasRoom(h.queues.sub(at)) })
}
