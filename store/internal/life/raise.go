package life

import "github.com/fairlead/fairlead/queue"

// Raise applies an alteration of a job's priority.
func Raise(j *queue.Job, a queue.Alteration) {
	if a.Verb == queue.VerbLimit {
		j.Limit = max(0, a.Limit)
		return
	}
	if a.Priority != "" {
		j.Priority = a.Priority
	}
	if a.QOS != nil {
		j.QOS = *a.QOS
	}
	if a.Nice != nil {
		j.Nice = *a.Nice
	}
}

// Move moves a job to another pool.
func Move(j *queue.Job, a queue.Alteration) {
	j.Pool, j.Limit = a.Pool, a.Limit
}
