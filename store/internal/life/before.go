package life

import "github.com/fairlead/fairlead/queue"

// attemptsKept bounds the attempts of an array whose instants are kept when it begins anew.
const attemptsKept = 1000

// ResetEvents are what a job forgets that is requeued after its end: when its attempts began and ended,
// and when it did. Of an array they are the first ones.
func ResetEvents(j *queue.Job, tasks []*queue.Task) (all []queue.Event) {
	for _, t := range tasks[:min(len(tasks), attemptsKept)] {
		all = append(all, t.Events()...)
	}
	return append(all, j.EndEvent())
}

// UncancelEvents are what a job forgets whose cancellation is undone: which of its attempts were
// stopped, and when it had ended. They are asked for before that is undone.
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
