// Package linear checks whether recorded calls of a store are linearizable. They are if there is an order of the
// calls, consistent with real time, in which a store that does one thing at a time would have given the same answers.
// The calls concern the lease of a task: lease, renew, finish, release, expire, and reading it. It is for the tests of
// the stores.
package linear

import (
	"fmt"
	"math"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Verb is the operation of a call.
type Verb string

// The verbs.
const (
	Lease   Verb = "lease"
	Renew   Verb = "renew"
	Finish  Verb = "finish"
	Release Verb = "release"
	Expire  Verb = "expire"
	Read    Verb = "read"
	Open    Verb = "open" // the opening of a store that lets no lease run out before the TTL from then on
)

// Call is a client's request about one task, with its answer. A call on several tasks is one Call for each.
type Call struct {
	Client, N int // the N-th of its client
	Verb      Verb
	Job       int64 // 0: all
	Task      int   // -1: unknown, of a lease whose answer was lost
	Begun     int64
	Done      int64 // by the same clock; for a call without an answer: the end of any effect
	From, To  time.Time
	Attempt   int           // named, or granted by a lease; in the calls of a task: the one that an expiry ended
	Lost      []queue.Ref   // the attempts that an expiry ended
	Holder    string        // of a lease, or of the leases to end; "" means expired leases
	TTL       time.Duration // of a lease, or its renewal
	Outcome   queue.State   // of a finish
	Again     bool          // the answer to the finish was that the task waits again
	Stale     bool          // the answer was that the attempt is over
	Refused   bool          // a lease that was not granted
	Seen      Seen          // by a read
	Unknown   bool          // without an answer: it may take effect until Done, or never
	Retries   int           // of the job
}

// Seen is the readable state of a task.
type Seen struct {
	Attempt, Fails, Losses int
	State                  queue.State
}

// forever is the end of calls that may take effect at any later time.
const forever = math.MaxInt64

// from returns the earliest instant that the store may have assigned to the call.
func (c *Call) from() int64 { return c.From.UnixNano() }

// to returns the latest instant. If the client gave up a call, the store may execute it later.
func (c *Call) to() int64 {
	if c.Unknown && c.Done == forever {
		return forever
	}
	return c.To.UnixNano()
}

// String returns a short description of the call.
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
