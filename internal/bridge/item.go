package bridge

import (
	"crypto/rand"
	"strings"
	"time"
)

// task is a task, whatever its attempt.
type task struct {
	job  int64
	task int
}

// item is a row of the ledger, with more facts about it.
type item struct {
	*row
	live       bool      // the lease is ours, as far as we know
	unsure     bool      // it may be in the QS: it is looked for before it is sent
	sending    bool      // it is being submitted
	stop       string    // why it is to be taken out of the QS
	cancelled  time.Time // when that was last asked for
	absent     int       // how often in a row it was not there
	status     Status    // last heard
	heard      time.Time
	unreported bool // the server does not know status yet
	says       bool // nor what the QS says lately, which is all that is new
	stale      bool // the server did not take its end under this attempt
	adoptable  bool // it may go on under the next attempt: the server was asked
}

func (it *item) task() task { return task{it.lease.JobID, it.lease.Task} }

// entry is what the QS is asked about.
func (it *item) entry() Entry { return Entry{Marker: it.marker, ID: it.id, Submitted: it.submitted} }

// marker is a new marker.
func marker(node string) string { return markerPrefix(node) + strings.ToLower(rand.Text()) }

// markerPrefix begins all markers of a bridge: the name of the node, as far as it is made of
// letters and digits.
func markerPrefix(node string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, node)
	return "fl-" + word[:min(len(word), 30)] + "-"
}
