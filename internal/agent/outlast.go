package agent

import (
	"errors"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// outlast lets tasks go on past the ends of their leases, as at an instant nobody could give them to others:
// no other server is on the store, and ours did not listen, or said that its store was away. From when it
// begins, or has its store again, it ends no lease for the length of one.
func (a *Agent) outlast(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	until := at.Add(a.ttl)
	if !a.sole {
		return
	}
	for _, t := range a.tasks {
		if t.until.After(time.Now()) && t.until.Before(until) { // one whose lease is over is being killed
			t.until = until
		}
	}
}

// endsNoLease reports whether a renewal or a join failed because the server does not listen, or because its store is
// away. Other requests promise nothing when the store is away.
func endsNoLease(err error) bool { return errors.Is(err, queue.ErrUnavailable) || nobodyListens(err) }

// nobodyListens reports whether an error shows that nobody listened at the address of the server. A connection
// that is lost, or a request without an answer, shows nothing: the server may be there, and the network not.
func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}
