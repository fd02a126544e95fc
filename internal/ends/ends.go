// Package ends counts how the attempts of tasks ended. It counts them per node, and per user on each node, in the last
// hour, and for all nodes together in the day before that. It also counts them per node and cause since the server
// started.
//
// It has no clock and no lock: its owner passes the instants, and calls it from one goroutine at a time.
package ends

import (
	"maps"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Cause is how an attempt ended.
type Cause string

// The causes.
const (
	Succeeded Cause = "succeeded"
	Cancelled Cause = "cancelled"
	Exit      Cause = "exit"    // the process exited with a code other than 0
	Signal    Cause = "signal"  // a signal ended the process
	Other     Cause = "other"   // an error of a handler, a time limit
	Refused   Cause = "refused" // the node did not begin the task
	Lost      Cause = "lost"    // the lease ended, or the agent is gone
)

// Of returns the cause of an outcome.
func Of(o queue.Outcome) Cause {
	switch {
	case o.Refused != "":
		return Refused
	case o.State == queue.Succeeded:
		return Succeeded
	case o.State == queue.Cancelled:
		return Cancelled
	case o.Signal != "":
		return Signal
	case o.ExitCode != 0:
		return Exit
	}
	return Other
}

// Failed reports whether attempts that end in this way failed.
func (c Cause) Failed() bool { return c != Succeeded && c != Cancelled }

// Result is succeeded, cancelled or failed.
func (c Cause) Result() string {
	if c.Failed() {
		return "failed"
	}
	return string(c)
}

// maxNames is how many nodes are counted apart. Later ones are counted as "other".
const maxNames = 1000

// other is the name of all nodes, or users of a node, that are not counted apart.
const other = "other"

// Key identifies a sum since the server started.
type Key struct {
	Node  string
	Cause Cause
}

// Tally counts ends. The zero value is empty.
type Tally struct {
	recent named          // by node and minute
	users  map[pair]*ring // by minute
	forgot time.Time      // when the attempts of a node were last dropped
	past   ring           // by 5 minutes
	totals map[Key]int64
}

// pair is a user on a node.
type pair struct{ node, user string }

// maxPairs is how many users on nodes are counted apart. Later users of a node are counted together.
const maxPairs = 10_000

// named are counts of the last hour by name.
type named map[string]*ring

// The widths of the buckets, and how far they reach back.
const (
	hour      = time.Hour
	pastWidth = 5 * time.Minute
	pastReach = 25 * time.Hour
)

// Add counts an attempt of a user's task on a node.
func (t *Tally) Add(node, user string, c Cause, now time.Time) {
	if t.totals == nil {
		t.recent, t.users, t.totals = named{}, map[pair]*ring{}, map[Key]int64{}
	}
	nodes := t.recent.of(node)
	t.totals[Key{nodes, c}]++
	if c == Cancelled {
		return
	}
	one := Count{Ended: 1}
	if c.Failed() {
		one.Failed = 1
	}
	t.recent[nodes].add(one, now, time.Minute, hour)
	t.ofUser(nodes, user).add(one, now, time.Minute, hour)
	t.past.add(one, now, pastWidth, pastReach)
}

// of returns the name under which a node is counted.
func (n named) of(name string) string {
	if n[name] == nil {
		if len(n) >= maxNames {
			name = other
		}
		if n[name] == nil {
			n[name] = &ring{}
		}
	}
	return name
}

// ofUser returns the counts of a user on a node.
func (t *Tally) ofUser(node, user string) *ring {
	at := pair{node, user}
	if t.users[at] == nil && len(t.users) >= maxPairs {
		at.user = other
	}
	if t.users[at] == nil {
		t.users[at] = &ring{}
	}
	return t.users[at]
}

// Forget drops the attempts that ended on a node in the last hour, e.g. because the node has been repaired.
func (t *Tally) Forget(node string, now time.Time) {
	if t.recent[node] == nil {
		return
	}
	delete(t.recent, node)
	maps.DeleteFunc(t.users, func(p pair, _ *ring) bool { return p.node == node })
	t.forgot = now
}

// LastHour returns the attempts that ended in the hour before the instant "now", by node, and by user for each node;
// names without attempts are left out. The result "whole" is false if some attempts of this hour were dropped.
func (t *Tally) LastHour(now time.Time) (nodes map[string]Count, users map[string]map[string]Count, whole bool) {
	from := now.Add(-hour)
	users = map[string]map[string]Count{}
	for at, r := range t.users {
		c := r.since(from)
		switch {
		case c.Ended == 0:
			continue
		case users[at.node] == nil:
			users[at.node] = map[string]Count{}
		}
		users[at.node][at.user] = c
	}
	return t.recent.since(from), users, !t.forgot.After(from)
}

func (n named) since(from time.Time) map[string]Count {
	out := map[string]Count{}
	for name, r := range n {
		if c := r.since(from); c.Ended > 0 {
			out[name] = c
		}
	}
	return out
}

// DayBefore returns the attempts that ended in the 24 hours before the last hour.
func (t *Tally) DayBefore(now time.Time) Count {
	return t.past.since(now.Add(-pastReach)).Minus(t.past.since(now.Add(-hour)))
}

// Totals returns a copy of the sums since the server started.
func (t *Tally) Totals() map[Key]int64 {
	out := map[Key]int64{}
	maps.Copy(out, t.totals)
	return out
}
