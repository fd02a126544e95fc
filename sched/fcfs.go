package sched

import "slices"

// fcfs is the rule [FCFS]. Only impossible requests are parked: any other job without room ends the step.
type fcfs struct{ firstFit }

func (fcfs) name() string { return "fcfs" }

func (fcfs) strict() bool { return true }

func (fcfs) settled(*backfilling) bool { return true }

// reopen lets a sub-queue try again if its request would now fit in a cluster without running tasks.
func (fcfs) reopen(h *gates) {
	if len(h.noRoom.active) == 0 {
		return
	}
	refs := h.noRoom.takeIf(slices.Sorted(slices.Values(h.noRoom.active)), nil, func(at subRef) bool {
		return h.site.cluster.Empty().Could(h.queues.sub(at).key)
	})
	h.returning(&refs, byFit)
}
