package linear

import (
	"math"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// task is what the model knows of a task after some of the calls.
type task struct {
	Seen
	holder string
	// The lease ends between these instants: the store took the time in between begin and
	// end of the call.
	earliest, latest int64
	// now is an instant that is over: an expiry that ended an attempt has seen its lease run
	// out. Calls that had an answer before do not follow.
	now      int64
	answered int   // how many of the calls so far had an answer
	begun    int64 // when the last of the calls so far began
}

// slack is what the clocks of stores leave off from their instants.
const slack = 1000

// unlimited is the end of a lease that some call may still extend.
const unlimited = math.MaxInt64

// step says whether a task can answer a call as it was answered, and how it is then. answers is the number
// of all calls with an answer.
func (k task) step(c *Call, answers int) (bool, task) {
	if c.Unknown {
		return k.unanswered(c, answers)
	}
	if c.to() < k.now {
		return false, k
	}
	k.answered++
	k.begun = max(k.begun, c.Begun)
	return k.answer(c)
}

// unanswered is the task after a call that may have taken effect or not. It takes
// effect, as long as it may. Calls that take none come last, when it makes no difference.
func (k task) unanswered(c *Call, answers int) (bool, task) {
	if k.answered == answers {
		return true, k
	}
	if c.Done < k.begun || c.to() < k.now {
		return false, k
	}
	k.begun = max(k.begun, c.Begun)
	switch c.Verb {
	case Lease:
		if k.State != queue.Waiting {
			return false, k
		}
		return true, k.lease(c)
	case Expire:
		if !k.endedBy(c) {
			return false, k
		}
		return true, k.lose(c)
	}
	if c.Verb != Open && !k.valid(c) {
		return false, k
	}
	return true, k.change(c)
}

// answer is step for calls that were answered.
func (k task) answer(c *Call) (bool, task) {
	switch c.Verb {
	case Lease:
		// That one is refused says nothing: somebody else may be trying at the same moment, and
		// pauses after failures are not modelled. Such calls are left out.
		return k.State == queue.Waiting && c.Attempt == k.Attempt+1, k.lease(c)
	case Expire:
		return k.expire(c)
	case Read:
		return k.Seen == c.Seen, k
	case Open:
		return true, k.change(c)
	}
	if !k.valid(c) {
		return c.Stale, k
	}
	next := k.change(c)
	again := c.Verb == Finish && next.State == queue.Waiting
	return !c.Stale && again == c.Again, next
}

// valid reports whether a call names the attempt that is under way.
func (k task) valid(c *Call) bool {
	return k.State == queue.Running && c.Attempt == k.Attempt
}

// lease begins the next attempt.
func (k task) lease(c *Call) task {
	k.Attempt++
	k.State, k.holder = queue.Running, c.Holder
	k.earliest, k.latest = k.end(c)
	return k
}

// end is between which instants a lease ends that a call grants or renews.
func (k task) end(c *Call) (earliest, latest int64) {
	earliest, latest = c.from()+int64(c.TTL)-slack, c.to()
	if latest > unlimited-int64(c.TTL) {
		return earliest, unlimited
	}
	return earliest, latest + int64(c.TTL)
}

// change is the task after its holder renews, gives back or ends its attempt, or the store is opened.
func (k task) change(c *Call) task {
	switch c.Verb {
	case Open:
		k.earliest, k.latest = k.end(c)
	case Renew: // it never shortens a lease
		earliest, latest := k.end(c)
		k.earliest, k.latest = max(k.earliest, earliest), max(k.latest, latest)
	case Release:
		k.State = queue.Waiting
	case Finish:
		k.State = c.Outcome
		if c.Outcome != queue.Failed {
			break
		}
		if k.Fails++; k.Fails <= c.Retries {
			k.State = queue.Waiting
		}
	}
	return k
}

// expire ends an attempt that ran out, not before it did, and not without saying so.
func (k task) expire(c *Call) (bool, task) {
	if c.Attempt == 0 {
		must := k.State == queue.Running && (c.Holder == k.holder || c.Holder == "" && c.from() >= k.latest)
		return !must, k
	}
	if c.Attempt != k.Attempt || !k.endedBy(c) {
		return false, k
	}
	return true, k.lose(c)
}

// endedBy reports whether an expiry can end the attempt.
func (k task) endedBy(c *Call) bool {
	return k.State == queue.Running && (c.Holder == k.holder || c.Holder == "" && c.to() >= k.earliest)
}

// lose ends the attempt by an expiry: if that does not name its holder, when the lease has run out.
func (k task) lose(c *Call) task {
	if c.Holder == "" {
		k.now = max(k.now, k.earliest)
	}
	k.Losses++
	if k.State = queue.Waiting; k.Losses >= life.MaxLosses {
		k.State = queue.Failed
	}
	return k
}
