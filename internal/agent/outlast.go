package agent

import (
	"errors"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// outlast extends the leases of the tasks if no other server uses the store: they now end one lease after the instant
// "at". At that instant our server did not listen, or reported that it could not reach the store, so it could not give
// the tasks to other agents. When a server starts, or reaches its store again, it ends no lease for the length of one
// lease.
func (a *Agent) outlast(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	until := at.Add(a.ttl)
	if !a.sole {
		return
	}
	for _, t := range a.tasks {
		if t.until.After(time.Now()) && t.until.Before(until) { // a task whose lease is over is being killed
			t.until = until
		}
	}
}

// endsNoLease reports whether a renewal or a join failed because the server does not listen or cannot reach its store.
// Ask it only about these requests: if another one fails for lack of the store, the server does not count that as an
// outage, and may end leases at once.
func endsNoLease(err error) bool { return errors.Is(err, queue.ErrUnavailable) || nobodyListens(err) }

// nobodyListens reports whether an error shows that nobody listened at the address of the server. A lost
// connection or a missing answer does not show it: perhaps only the network fails.
func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}
