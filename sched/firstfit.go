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

func (firstFit) node(h *gates, at lineRef, _ int64) (cluster.NodeID, bool) {
	l := h.lines.line(at)
	return h.reserve.find(l.key, l.limit)
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

// fitting removes and returns the lines that waited for room and now have it.
func (h *gates) fitting() []lineRef {
	return h.noRoom.takeIf(h.noRoom.fitting(h.site.cluster), nil,
		func(at lineRef) bool { return h.reserve.hasRoom(h.lines.line(at)) })
}
