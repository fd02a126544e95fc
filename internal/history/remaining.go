package history

import (
	"slices"
	"time"
)

// Remaining sums up the tasks that continue on a drained node.
type Remaining struct {
	Users   []string  // their users, sorted
	Last    time.Time // the latest end by a time limit; zero without one
	Endless int       // the tasks without a time limit
}

// RemainingOf sums up running tasks.
func RemainingOf(tasks []NodeTask) (r Remaining) {
	for i := range tasks {
		t := &tasks[i]
		r.Users = append(r.Users, t.User)
		if t.Ends == nil {
			r.Endless++
		} else if t.Ends.After(r.Last) {
			r.Last = *t.Ends
		}
	}
	slices.Sort(r.Users)
	r.Users = slices.Compact(r.Users)
	return r
}
