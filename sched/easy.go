package sched

import "github.com/fairlead/fairlead/cluster"

// easy is the rule [EASY].
type easy struct{}

func (easy) name() string { return "easy" }

func (easy) plans() planning { return plansFirst }

func (easy) strict() bool { return false }

func (easy) begin(e *departures) {
	if e.plansNothing() || !e.updatePlan() {
		return
	}
	b, now := &e.reserve.backfill, e.site.instantOf()
	b.events, b.behind = e.site.events, 0
	if late := e.reserve.overrun(now); !late && e.gates.firstsStay() {
		e.gates.lookBehind()
		return
	}
	e.planAnew()
	e.gates.lookAgain()
}

// planAnew gives up the kept room, except the held one, because all sub-queues look for room again.
func (e *departures) planAnew() {
	b := &e.reserve.backfill
	b.looks = lookups{events: e.site.events, at: e.site.instantOf(), freed: b.looks.freed[:0]}
	e.reserve.holdAgain(e.reserve.unreserve())
}

func (easy) start(s *Scheduler, limit int, d *Decision) { s.placement.drawAll(limit, d) }

func (easy) settled(*backfilling) bool { return true }

// node finds a node for a task of a sub-queue. For the first task that finds no room, it keeps room at the
// earliest instant at which there will be some. After that, only tasks that do not need this room fit.
func (easy) node(h *gates, at subRef, job int64) (cluster.NodeID, bool) {
	sub, b := h.queues.sub(at), &h.reserve.backfill
	if job == b.patience.held.job {
		return 0, false // its turn has passed, see startHeld
	}
	if b.uniform {
		return h.reserve.findPaid(sub.key, sub.limit)
	}
	var node cluster.NodeID
	var fits bool
	if len(b.firsts) > 0 {
		node, fits = h.reserve.placeBehind(sub.key, h.reserve.lengthAt(at), sub.limit)
	} else {
		node, fits = h.reserve.findPaid(sub.key, sub.limit)
	}
	switch {
	case fits:
	case h.reserve.keptAhead(sub.key) != nil:
		b.behind++
	default:
		h.reserve.keepFirst(at, job)
	}
	return node, fits
}

// reopen does nothing here: the next step lets the sub-queues try again, see lookAgain.
func (easy) reopen(*gates) {}
