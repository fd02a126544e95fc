package life

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// maxAvoided is the maximum number of nodes that a job avoids.
const maxAvoided = 32

// maxAvoidedCause is the maximum length in bytes of the reason why a node could not begin a job.
const maxAvoidedCause = 200

// HowRefused describes the end of an attempt that its machine could not begin.
const HowRefused = "did not begin"

// Refuse ends the attempt of a task that its machine could not begin and reports whether the task waits again. The
// attempt does not count as a retry but as a loss, so that a task that no machine begins comes to an end.
func Refuse(j *queue.Job, t *queue.Task, o queue.Outcome, now time.Time) (again bool) {
	begin, apart := time.Time{}, Apart(j)
	if !apart && !t.Requeue {
		t.Losses++
		avoid(j, t, o, now)
	}
	switch {
	case j.Cancel:
		o = queue.Outcome{State: queue.Cancelled, ExitCode: o.ExitCode, Cause: o.Cause}
	case apart:
		if again = follows(j, t); !again {
			o.State = queue.Cancelled
		}
	case t.Requeue:
		again = true
	case o.Final:
	case t.Losses >= MaxLosses:
		o.Cause = fmt.Sprintf("no node could begin it in %d attempts; the last failure, on %s: "+
			"%s", t.Losses, t.Holder, o.Cause)
	default:
		again = true
		if o.Refused == queue.RefusedNow {
			begin = now.Add(pause(0, t.Losses))
		}
	}
	stop(j, t, o, now)
	if again {
		t.State, t.Begin, t.Queued = queue.Waiting, begin, false
	}
	end(j, again, o, now)
	unstart(j, t.Started)
	return again
}

// avoid makes a job avoid the node that could not begin a task of it, unless the node may begin it later.
func avoid(j *queue.Job, t *queue.Task, o queue.Outcome, now time.Time) {
	is := func(a queue.Avoided) bool { return a.Node == t.Holder }
	if o.Refused == queue.RefusedNow || o.Final || len(j.Avoid) >= maxAvoided {
		return
	}
	cause := o.Cause
	if len(cause) > maxAvoidedCause {
		cause = strings.ToValidUTF8(cause[:maxAvoidedCause], "") + "..."
	}
	kept := slices.DeleteFunc(slices.Clone(j.Avoid), is) // replace the entry of a node that was resumed meanwhile
	j.Avoid = append(kept, queue.Avoided{Node: t.Holder, At: now, Cause: cause})
}

// RefusedEvent returns the event of an attempt that its machine could not begin, for the job's history.
func RefusedEvent(t *queue.Task, o queue.Outcome, again bool, now time.Time) queue.Event {
	text := fmt.Sprintf("attempt %d did not begin on %s: %s", t.Attempt, t.Holder, o.Cause)
	switch wait := t.Begin.Sub(now).Round(time.Second); {
	case again && wait > 0:
		text += fmt.Sprintf("; it waits again, and the next attempt follows in %v", wait)
	case again && o.Refused != queue.RefusedNow:
		text += "; it waits again, for another node"
	case again:
		text += "; it waits again"
	}
	return queue.Event{Job: t.Job, Task: t.Index, At: now, Code: "refused", Text: text}
}

// Kept reports whether a job now avoids other nodes than before, or avoids a node since a later instant.
func Kept(before, after []queue.Avoided) bool { return !slices.Equal(before, after) }
