package linear

import (
	"math"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// task is the state of a task in the model after some of the calls.
type task struct {
	Seen
	holder string
	// The lease ends between these instants, because the store read its clock between the begin and the end of the
	// call.
	earliest, latest int64
	// now is an instant in the past: an expiry that ended an attempt saw that its lease had run out at this instant.
	// Calls that were answered before now cannot come later in the order.
	now      int64
	answered int   // number of calls so far with an answer
	begun    int64 // when the latest call so far began
}

// slack is the precision that the clocks of stores drop from their instants.
const slack = 1000

// unlimited is the end of a lease that some call may still extend.
const unlimited = math.MaxInt64

// step reports whether a task can answer a call as it was answered, and returns its state after that. The argument
// "answers" is the number of all calls with an answer.
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

// unanswered returns the task after a call that may have taken effect or not. If the call may still take effect, the
// model lets it do so. Calls without effect come last, when they make no difference.
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
		// A refused lease proves nothing: another client may be trying at the same moment, and pauses after failures
		// are not modeled. Such calls are left out.
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

// valid reports whether a call names the current attempt.
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

// end returns the interval in which the lease that a call grants or renews ends.
func (k task) end(c *Call) (earliest, latest int64) {
	earliest, latest = c.from()+int64(c.TTL)-slack, c.to()
	if latest > unlimited-int64(c.TTL) {
		return earliest, unlimited
	}
	return earliest, latest + int64(c.TTL)
}

// change returns the task after its holder renews, releases or ends its attempt, or the store is opened.
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

// expire ends an expired attempt: not too early, and not without reporting it.
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

// lose ends the attempt by an expiry. If the expiry does not name the holder, the lease has run out by that time.
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
