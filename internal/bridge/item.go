package bridge

import (
	"crypto/rand"
	"strings"
	"time"
)

// task names a task without its attempt.
type task struct {
	job  int64
	task int
}

// item is a row of the ledger with further facts.
type item struct {
	*row
	live       bool      // as far as we know, we hold the lease
	unsure     bool      // it may be in the QS: look for it before sending it
	sending    bool      // a call that submits it is under way
	stop       string    // why it must leave the QS; "": it may stay
	cancelled  time.Time // when we last asked the QS to cancel it
	absent     int       // how many answers in a row said that the QS does not have it
	status     Status    // last answer of the QS
	heard      time.Time
	unreported bool // the server does not know the phase of status yet
	says       bool // the server does not know status.Says yet; there is no other news
	stale      bool // the server refused its end for this attempt
	adoptable  bool // the server said that it may continue under the next attempt
}

func (it *item) task() task { return task{it.lease.JobID, it.lease.Task} }

// start returns the latest instant at which the server may have recorded the start of the attempt. It is the start
// of the lease, or the begin in the QS if that was later. It is zero if the ledger does not have the start of the
// lease.
func (it *item) start() time.Time {
	if it.lease.Since.IsZero() || it.lease.Since.After(it.began) {
		return it.lease.Since
	}
	return it.began
}

// entry returns the Entry with which we ask the QS about the item.
func (it *item) entry() Entry { return Entry{Marker: it.marker, ID: it.id, Submitted: it.submitted} }

// marker returns a new marker.
func marker(node string) string { return markerPrefix(node) + strings.ToLower(rand.Text()) }

// markerPrefix returns the start of all markers of a bridge: it contains the first 30 letters and digits of
// the name of the node.
func markerPrefix(node string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, node)
	return "fl-" + word[:min(len(word), 30)] + "-"
}
