// Package linear asks of recorded calls of a store whether they are linearizable: whether
// there is an order of them, in keeping with real time, in which a store that does one
// thing after the other would have given the same answers. The calls are those of the lease
// of a task: lease, renew, finish, release, expire, and reading it. It is for the tests of
// the stores.
package linear

import (
	"fmt"
	"math"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Verb is what a call does.
type Verb string

// The verbs.
const (
	Lease   Verb = "lease"
	Renew   Verb = "renew"
	Finish  Verb = "finish"
	Release Verb = "release"
	Expire  Verb = "expire"
	Read    Verb = "read"
	Open    Verb = "open" // of a store that lets no lease run out before the TTL from then on
)

// Call is what a client asked of one task, and what it heard. Calls on several tasks are
// one Call for each.
type Call struct {
	Client, N int // the N-th of its client
	Verb      Verb
	Job       int64 // 0: all
	Task      int   // -1: that of a lease whose answer was lost
	Begun     int64
	Done      int64 // by the same clock; of a call without an answer: after it the call takes no effect any more
	From, To  time.Time
	Attempt   int           // that was named or, by a lease, granted; in the calls of a task: what an expiry ended
	Lost      []queue.Ref   // what an expiry ended
	Holder    string        // who leases it, or whose leases are to end; "" are the leases that ran out
	TTL       time.Duration // of a lease, or its renewal
	Outcome   queue.State   // of a finish
	Again     bool          // the finish was answered with: it waits again
	Stale     bool          // the answer was that the attempt is over
	Refused   bool          // a lease that was not granted
	Seen      Seen          // by a read
	Unknown   bool          // no answer came: it may take effect until it is Done, or never
	Retries   int           // of the job
}

// Seen is the readable state of a task.
type Seen struct {
	Attempt, Fails, Losses int
	State                  queue.State
}

// forever is the end of calls that may take effect at any later time.
const forever = math.MaxInt64

// from is the earliest instant that the store may have taken for that of the call.
func (c *Call) from() int64 { return c.From.UnixNano() }

// to is the latest one. When the client gave up a call says nothing about when the store
// carries it out.
func (c *Call) to() int64 {
	if c.Unknown && c.Done == forever {
		return forever
	}
	return c.To.UnixNano()
}

// String says it in short.
func (c *Call) String() string {
	answer := "ok"
	switch {
	case c.Unknown:
		answer = "no answer"
	case c.Stale:
		answer = "stale"
	case c.Verb == Finish && c.Again:
		answer = "again"
	case c.Verb == Read:
		return fmt.Sprintf("read -> %+v", c.Seen)
	}
	return fmt.Sprintf("%s %s #%d %s -> %s", c.Verb, c.Holder, c.Attempt, c.Outcome, answer)
}
