package sched

import (
	"github.com/fairlead/fairlead/cluster"
)

// In backfilling, the policy gives the order and placement finds the holes. Future room is planned by the time
// limits of running tasks (Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995, for EASY; Feitelson and Weil,
// IPPS 1998, for conservative backfilling).

// updatePlan updates the plan before a step looks for room. It reports whether the step has to search again. The step
// need not if the last step ended at its limits and nothing has happened since.
func (e *departures) updatePlan() bool {
	b := &e.reserve.backfill
	if b.plan == nil || b.patience.beside && b.patience.since == 0 || b.arrival && b.stable != e.keepsRoom() {
		e.replan()
	}
	b.plan.Advance(e.site.instantOf())
	return !b.unfinished || b.events != e.site.events
}

// plansNothing reports whether no plan is needed, because all waiting and running tasks have the same key. An
// existing plan is dropped only after a while, because a new plan takes time proportional to the number of running
// tasks.
func (e *departures) plansNothing() bool {
	const aWhile = 64
	b := &e.reserve.backfill
	if !e.gates.uniform() || e.site.cluster.Windows().Any() {
		b.uniform, b.alike = false, 0
		return false
	}
	if b.alike++; b.plan != nil && b.alike < aWhile {
		return false
	}
	if !b.uniform || b.plan != nil || len(b.firsts) > 0 {
		b.uniform, b.plan, b.firsts, b.patience, b.promises = true, nil, b.firsts[:0], patience{}, promises{}
		cluster.KeptOf(e.site.cluster).Release()
	}
	if b.unfinished && b.events == e.site.events {
		return true // no need to search again the sub-queues that the last step searched
	}
	b.events = e.site.events
	e.gates.lookAgain()
	return true
}

// uniform reports whether all running tasks, and all waiting tasks that may start, have the same key. Every step calls
// it. So it only compares the first keys of the lists: no list has a key twice.
func (h *gates) uniform() bool {
	runs, ready, noRoom := h.running.keys.active, h.queues.readyKeys.active, h.noRoom.active
	return len(runs) < 2 && len(ready) < 2 && len(noRoom) < 2 &&
		sameFirst(runs, ready) && sameFirst(runs, noRoom) && sameFirst(ready, noRoom)
}

// sameFirst reports whether two lists begin with the same key, or one is empty.
func sameFirst(a, b []cluster.Key) bool { return len(a) == 0 || len(b) == 0 || a[0] == b[0] }

// alike reports what uniform reports, but only about the keys that count.
func (h *gates) alike(counts func(cluster.Key) bool) bool {
	one := cluster.Key(-1)
	for _, keys := range [...][]cluster.Key{h.running.keys.active, h.queues.readyKeys.active, h.noRoom.active} {
		for _, key := range keys {
			switch {
			case key == one || !counts(key):
			case one >= 0:
				return false
			default:
				one = key
			}
		}
	}
	return true
}

// inTurn reports whether no job can pass one that waits for room.
func (h *gates) inTurn() bool { return h.site.strict || h.uniform() }

// replan makes a new plan of the running tasks.
func (e *departures) replan() {
	b, now := &e.reserve.backfill, e.site.instantOf()
	if b.stable && e.site.plans == plansAll {
		b.promiseAll()
	}
	b.promises.endless, b.promises.gap = 0, false
	b.plan, b.ends, b.firsts, b.keep = e.site.cluster.NewPlan(now, e.quotas.licenseTotals()), b.ends[:0],
		b.firsts[:0], keeper{relist: true}
	cluster.KeptOf(e.site.cluster).Release()
	b.patience.held.nodes, b.patience.beside = nil, false
	b.arrival = e.tree.byArrivalOnly()
	if b.stable = b.arrival && e.keepsRoom(); b.stable && e.site.plans == plansAll {
		b.patience = patience{}
	}
	for i := range e.running.runs {
		if r := &e.running.runs[i]; r.used {
			e.reserve.planStart(int32(i))
		}
	}
	for _, x := range e.heldDown {
		for _, room := range x.held {
			b.plan.Take(room.node, room.key, now, room.until)
			e.reserve.planLicenses(room.key, -1, now, room.until)
		}
	}
}

// keepsRoom reports whether the planned start of a waiting job stays valid until the job starts, if jobs go in order of
// arrival. It does not if all jobs are planned and a task without a time limit runs, because wrong predictions would
// delay the planned start again and again. Then the first job has to be found anew, and nodes have to be held for it.
func (e *departures) keepsRoom() bool {
	return e.site.plans != plansAll || e.running.endless.all == 0
}

// lookAgain lets sub-queues that found no room try again, if there is room for any task now. In general all of them
// have to try, to find the first job, because room is kept for it. If the order never changes, the first job is the
// same as before, and only sub-queues that will find room need to try.
func (h *gates) lookAgain() {
	w := &h.noRoom
	if len(w.active) == 0 {
		return
	}
	fit := h.fittingPaid()
	if len(fit) == 0 && !h.queues.somethingFits() {
		return
	}
	var all []subRef
	if h.firstAgain() {
		all = h.findBehind(fit)
	} else {
		all = w.all()
	}
	h.tryAgain(all)
}

// firstAgain keeps room for the same job as in the last step, if this job is still the first. That is so if it still
// waits and finds no room, and no job has come before it. firstAgain reports whether it kept the room.
func (h *gates) firstAgain() bool {
	b := &h.reserve.backfill
	last := b.last
	if !b.stable || last.job == 0 || h.site.cluster.Windows().Any() {
		return false
	}
	sub := h.queues.sub(last.at)
	if sub.gate != byFit || sub.ask.key != last.key || sub.fresh.jobs+len(sub.begun) == 0 || h.queues.head(sub,
		true).id != last.job {
		return false
	}
	if open := h.tree.inners[h.tree.pools[Root].inner].byArrival(); len(open) > 0 && open[0].key < last.arrival {
		return false
	}
	if _, fits := h.reserve.findPaid(sub.key, sub.limit); fits {
		return false
	}
	h.reserve.keepFirst(last.at, last.job)
	return true
}

// unreserve gives the kept room back, so that the next step may keep it for another job. It returns the turn of a job
// that has to start now in the room that was kept for it, see [arrears.came].
func (f *reserve) unreserve() (came turn) {
	b := &f.backfill
	came = arrears{f}.came()
	if b.last = (reserved{}); len(b.firsts) == 1 && b.patience.held.job == 0 {
		b.last = b.firsts[0]
	}
	for i := range b.firsts {
		f.holdRoom(&b.firsts[i], +1)
	}
	b.firsts = b.firsts[:0]
	cluster.KeptOf(f.site.cluster).Release()
	if !b.stable {
		f.unplan()
	}
	return came
}
