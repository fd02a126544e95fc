package room

import "time"

// Turn says how long a job has been the first that finds no room, and until when it waits before nodes are held for it.
// A scheduler that replaces another one needs it, because otherwise the wait would begin anew.
type Turn struct {
	Job    int64      `json:"job"`
	First  time.Time  `json:"first"`
	Since  time.Time  `json:"since"`           // the bound counts the tasks that ran then
	Until  *time.Time `json:"until,omitempty"` // nil: while all running tasks have time limits
	Sure   bool       `json:"sure,omitempty"`  // Until is final
	Passed bool       `json:"passed,omitempty"`
	// Served is the service that its pool had received up to First, in slot-seconds, as it counted then. Share is the
	// part of the cluster that compensates the pool if the job took over the turn of an earlier one, otherwise 0.
	Served float64 `json:"served,omitempty"`
	Share  float64 `json:"share,omitempty"`
}
