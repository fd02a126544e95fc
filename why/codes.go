package why

import "slices"

// Code is a stable machine-readable reason. Codes are not renamed; see [Codes] for
// what each means.
type Code string

// The codes.
const (
	CapacityFull Code = "capacity.full"
	NoNodes      Code = "capacity.none"
	ShareBehind  Code = "share.behind"
	ShareNone    Code = "share.none"
	OrderBehind  Code = "order.behind"
	FitNow       Code = "fit.now"
	FitReserved  Code = "fit.reserved"
	FitNever     Code = "fit.never"
	GateHeld     Code = "gate.held"
	GatePaused   Code = "gate.paused"
	GateBegin    Code = "gate.begin"
	GateAfter    Code = "gate.after"
	GateMax      Code = "gate.max"
	GateNever    Code = "gate.never"
	GateMaxTasks Code = "gate.max_running"
	GateJobTasks Code = "gate.job_max_running"
	GateLicense  Code = "gate.license"
	GateRate     Code = "gate.rate"
	LicenseNever Code = "license.never"

	PolicyMaint       Code = "policy.maint"
	PolicyReservation Code = "policy.reservation"
	GateReservation   Code = "gate.reservation"
	ReservationOver   Code = "reservation.over"

	StateStarting Code = "state.starting"
	StateQueued   Code = "state.queued"
	StateRunning  Code = "state.running"
	StateStopping Code = "state.cancelling"
	StateEnded    Code = "state.ended"
	PoolIdle      Code = "pool.idle"

	startRefused Code = "start.refused"
	gateUser     Code = "gate.user_running"

	stopReclaimMin   Code = "stop.reclaim.min"
	stopReclaimShare Code = "stop.reclaim.share"
	stopRebalance    Code = "stop.rebalance"
	ReclaimNothing   Code = "reclaim.nothing"

	StarveWidth Code = "starve.width"
	StarveShare Code = "starve.share"
	StarveOrder Code = "starve.order"
)

// Explanation is what a code means and what to do about it.
type Explanation struct {
	Code    Code
	Meaning string
	Next    string
}

// Codes lists all codes with their meaning.
func Codes() []Explanation { return slices.Concat(roomCodes(), gateCodes(), stateCodes(), stopCodes()) }

// roomCodes are the codes of jobs that wait for room or for their turn.
func roomCodes() []Explanation {
	return []Explanation{
		{CapacityFull, "Everything that the job could use is in use, and the job is the next to start.",
			"Wait: it starts when a running task ends."},
		{NoNodes, "No node that takes tasks could run it: no agent is connected, or the nodes that could are drained or " +
			"down.",
			"Start the agent of a node that is down, or resume a drained one with: fairlead resume NODE; list the nodes " +
				"with: fairlead nodes"},
		{ShareBehind, "Another pool goes first, by the rule and the numbers of the policy.",
			"Compare with: fairlead why JOB --vs POOL"},
		{ShareNone, "The job's pool, or one above it, is entitled to nothing, and the policy never serves such pools.",
			"Ask the administrator to give the pool a load, or to set rounding: exact, which gives it what no other pool can " +
				"use."},
		{OrderBehind, "Earlier jobs of the same pool go first.",
			"Raise its priority, or submit urgent work under a pool of its own."},
		{FitNow, "The nodes do not have enough free at this moment; smaller requests still start.", "Ask for less, or wait."},
		{FitReserved, "The job would fit now, but it may run too long: it would delay the planned start of a job that goes before it.", "Shorten its time limit if it needs less (fairlead alter JOB --time), or wait."},
		{FitNever, "No node could take the request even if it were empty.",
			"Ask for less; see the largest node with: fairlead nodes"},
	}
}

// gateCodes are the codes of closed gates, and of jobs that nodes could not begin.
func gateCodes() []Explanation {
	return []Explanation{
		{GateHeld, "The job is held; the text says who holds it, and why.",
			"Release it or, if an administrator holds it, ask an administrator to do so: fairlead release JOB"},
		{GatePaused,
			"The job's pool, or one above it, is paused: running tasks continue, waiting jobs keep their place, and nothing " +
				"new starts.",
			"An administrator can resume it with: fairlead resume POOL"},
		{GateBegin, "The job's begin time has not come, or the backoff before its next attempt is not over.",
			"Wait, or submit without --begin."},
		{GateAfter, "The job waits for other jobs to end.", "See why those jobs have not ended: fairlead why JOB"},
		{GateMax, "The job's pool, or one above it, is at its maximum of a resource.",
			"Wait until running tasks of the pool end, or ask the administrator to raise max."},
		{GateNever, "The job asks for more at once than its pool, or one above it, may have.",
			"Cancel it, and ask for less or for another pool; or ask the administrator to raise the maximum."},
		{GateMaxTasks, "The job's pool, or one above it, has reached its maximum number of running tasks.",
			"Wait until running tasks of the pool end, or ask the administrator to raise max_running."},
		{GateJobTasks, "The job has reached its maximum number of running tasks.",
			"Wait for its running tasks; the limit is the job's own or its pool's."},
		{GateLicense, "The job asks for more of a license than is free.",
			"Wait: the job starts when a holder's task ends; see who holds it with: fairlead limits"},
		{GateRate, "A rate of the job allows no more starts in this period.",
			"Wait: the next start is at the time given; see all rates with: fairlead limits"},
		{gateUser, "The user has as many running tasks as one user may have, in all pools together.",
			"Wait for your running tasks, or ask the administrator to raise user_limits.running."},
		{LicenseNever, "The job asks for more of a license than the cluster has.",
			"Cancel it and ask for less, or ask the administrator; see all licenses with: fairlead limits"},
		{PolicyMaint,
			"The nodes that the job could use are in maintenance, or their maintenance begins before the job reaches " +
				"its time limit.", "Submit it with a time limit (-t) that ends before it, or wait; see all with: fairlead reserve"},
		{PolicyReservation,
			"The nodes that the job could use are reserved for others, or will be before the job reaches its time limit.",
			"Submit it with a time limit (-t) that ends before it, or wait; see all with: fairlead reserve"},
		{GateReservation, "The reservation of the job has not begun.", "Wait, or submit it without --reservation."},
		{ReservationOver, "The reservation that the job asks for is over, was canceled, or ends before the job would reach its time limit.", "Cancel it and submit it without --reservation or with a shorter time limit (-t)."},
		{startRefused, "A node could not begin the job, for the reason in the text, and the job waits for another node.",
			"If the job has a mistake, such as in its command or directory, cancel it and submit it again; " +
				"otherwise repair the node, and let it take the job again with: fairlead resume NODE"},
	}
}

// stateCodes are the codes of states of jobs and pools.
func stateCodes() []Explanation {
	return []Explanation{
		{StateStarting, "The job was chosen and is on its way to an agent.", ""},
		{StateQueued, "The job was handed to another queueing system, and waits there.",
			"Wait; the line BRIDGE of the answer shows what that system reports"},
		{StateRunning, "The job runs.", "Follow its output with: fairlead logs -f JOB"},
		{StateStopping, "The job was canceled, and its started tasks are being stopped.",
			"Wait; if it takes long, look at the node: fairlead nodes"},
		{StateEnded, "The job has ended.", "See how it ended with: fairlead history -j JOB"},
		{PoolIdle, "Nothing waits in the pool.", ""},
	}
}

// stopCodes are the codes of stopped tasks, and of pools and jobs that others can pass forever.
func stopCodes() []Explanation {
	return []Explanation{
		{stopReclaimMin,
			"The task was stopped and waits again: a pool was below its minimum for longer than its min_after, and the " +
				"pool of this task ran more than its entitlement.",
			"Nothing to do: it runs again in its turn. See the numbers and the lost work with: fairlead history --stops"},
		{stopReclaimShare,
			"The task was stopped and waits again: a pool was far below its entitlement for longer than its share_after, and " +
				"the pool of this task ran more than its entitlement.",
			"Nothing to do: it runs again in its turn. See the numbers and the lost work with: fairlead history --stops"},
		{ReclaimNothing,
			"The pool, or one above it, has had less than its min or its entitlement for longer than its min_after or " +
				"share_after, and no running task may be stopped for it.",
			"Ask the administrator: tasks of pools with protect: true are never stopped, and all others keep " +
				"their own min and entitlement. To give the pool room, protect fewer pools or set time limits."},
		{StarveWidth, "Jobs that ask for less can pass the job forever: the scheduler reserves nothing for it, " +
			"and they take " +
			"what becomes free. The text names the resource, the setting that lets them pass, and their users.",
			"Ask the administrator for backfill: easy, which keeps room for it (preview the change with: " +
				"fairlead config plan FILE), or ask for less."},
		{StarveShare, "Jobs of other pools can go before the job forever: its pool, or one above it, is entitled " +
			"to nothing or " +
			"to less than a slot, or another pool has a larger share and never uses it up.",
			"Ask the administrator for a larger weight or load, or for another pool."},
		{StarveOrder, "Jobs that come later can go before the job forever: the order in its pool, or in one above " +
			"it, always " +
			"puts them first.",
			"Ask the administrator for a policy under which every job gets its turn, or raise its priority: fairlead alter " +
				"JOB --priority P"},
		{stopRebalance,
			"The task was stopped and waits again: the policy load found its pools too far from their loads for too long.",
			"Nothing to do: it runs again in its turn. See the numbers and the lost work with: fairlead history --stops"},
	}
}

// Explain returns the explanation of a code, and whether there is one.
func Explain(c Code) (Explanation, bool) {
	for _, e := range Codes() {
		if e.Code == c {
			return e, true
		}
	}
	return Explanation{}, false
}
