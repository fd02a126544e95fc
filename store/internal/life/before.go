package life

import "github.com/fairlead/fairlead/queue"

// attemptsKept is the maximum number of an array's attempts whose times are kept when it begins anew.
const attemptsKept = 1000

// ResetEvents returns the events that a job loses when it is requeued after its end: the beginnings and ends of its
// attempts, and its own end. For an array they are the first ones.
func ResetEvents(j *queue.Job, tasks []*queue.Task) (all []queue.Event) {
	for _, t := range tasks[:min(len(tasks), attemptsKept)] {
		all = append(all, t.Events()...)
	}
	return append(all, j.EndEvent())
}

// UncancelEvents returns the events that a job loses when its cancellation is undone: which of its attempts were
// stopped, and its own end. Call it before the cancellation is undone.
func UncancelEvents(j *queue.Job, tasks []*queue.Task) (all []queue.Event) {
	for _, t := range tasks {
		if t.State == queue.Cancelled && t.Outcome.State == queue.Cancelled && !t.Alone && len(all) < 2*attemptsKept {
			all = append(all, t.Began(), againEvent(t, t.Outcome, t.Ended))
		}
	}
	if j.State.Ended() {
		all = append(all, j.EndEvent())
	}
	return all
}
