package agent

import (
	"errors"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// outlast extends the leases of the tasks: they now end one lease after the instant "at". At that instant no server
// could give the tasks to other agents, because no other server uses the store, and our server did not listen, or
// reported that it could not reach the store. When a server starts, or reaches its store again, it ends no lease for
// the length of one lease.
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

// endsNoLease reports whether a renewal or a join failed because the server does not listen or cannot reach
// its store. While the store is away, failures of other requests prove nothing.
func endsNoLease(err error) bool { return errors.Is(err, queue.ErrUnavailable) || nobodyListens(err) }

// nobodyListens reports whether an error shows that nobody listened at the address of the server. A lost
// connection or a missing answer does not show it: perhaps only the network fails.
func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}
