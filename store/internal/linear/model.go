// Package linear asks of recorded calls of a store whether they are linearizable: whether
// there is an order of them, in keeping with real time, in which a store that does one
// thing after the other would have given the same answers. The calls are those of the lease
// of a task: lease, renew, finish, release, expire, and reading it. It is for the tests of
// the stores.
package linear

import (
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
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
)

// Call is what a client asked of one task, and what it heard. Calls on several tasks are
// one Call for each.
type Call struct {
	Client, N int // the N-th of its client
	Verb      Verb
	Job       int64 // 0: all
	Task      int   // -1: that of a lease whose answer was lost
	Begun     int64
	Done      int64 // by the same clock; forever if no answer came
	From, To  time.Time
	Attempt   int            // that was named or, by a lease, granted; in the calls of a task: what an expiry ended
	Lost      []fairlead.Ref // what an expiry ended
	Holder    string         // by whom it is leased, or whose leases are to end; "" are those that ran out
	TTL       time.Duration  // of a lease, or its renewal
	Outcome   fairlead.State // of a finish
	Again     bool           // the finish was answered with: it waits again
	Stale     bool           // the answer was that the attempt is over
	Refused   bool           // a lease that was not granted
	Seen      Seen           // by a read
	Unknown   bool           // no answer came: it may have taken effect, now, later or never
	Retries   int            // of the job
}

// Seen is what can be read of a task.
type Seen struct {
	Attempt, Fails, Losses int
	State                  fairlead.State
}

// forever is when calls end that were not answered.
const forever = math.MaxInt64

// task is what the model knows of a task.
type task struct {
	Seen
	holder string
	// The lease ends between these instants: the store took the time in between begin and
	// end of the call.
	earliest, latest time.Time
}

// slack is what the clocks of stores leave off from their instants.
const slack = time.Microsecond

// leased is the task after a lease or a renewal by a call.
func (k task) leased(c *Call) task {
	k.earliest, k.latest = c.From.Add(c.TTL-slack), c.To.Add(c.TTL)
	if c.Unknown {
		k.latest = time.Unix(math.MaxInt32, 0)
	}
	return k
}

// step says whether a task can answer a call as it was answered, and how it is then. What
// was not answered has an effect if it can; one that had none can always be put at the end.
func step(k task, c *Call) (bool, task) {
	switch c.Verb {
	case Lease:
		return k.lease(c)
	case Expire:
		return k.expire(c)
	case Read:
		return k.Seen == c.Seen, k
	}
	valid := k.State == fairlead.Running && c.Attempt == k.Attempt
	switch {
	case c.Unknown && !valid:
		return true, k
	case valid == c.Stale && !c.Unknown:
		return false, k
	case !valid:
		return true, k
	}
	switch c.Verb {
	case Renew:
		return true, k.leased(c)
	case Release:
		k.State = fairlead.Waiting
		return true, k
	}
	return k.finish(c)
}

// lease begins the next attempt. That it is refused says nothing: somebody else may be
// trying at the same moment, and pauses after failures are not modelled. Such calls are left
// out.
func (k task) lease(c *Call) (bool, task) {
	if k.State != fairlead.Waiting {
		return c.Unknown, k
	}
	if !c.Unknown && c.Attempt != k.Attempt+1 {
		return false, k
	}
	k.Attempt++
	k.State, k.holder = fairlead.Running, c.Holder
	return true, k.leased(c)
}

func (k task) finish(c *Call) (bool, task) {
	again := false
	k.State = c.Outcome
	if c.Outcome == fairlead.Failed {
		k.Fails++
		if again = k.Fails <= c.Retries; again {
			k.State = fairlead.Waiting
		}
	}
	return c.Unknown || again == c.Again, k
}

// expire ends an attempt that ran out, not before it did, and not without saying so.
func (k task) expire(c *Call) (bool, task) {
	running := k.State == fairlead.Running
	may := running && (c.Holder == k.holder || c.Holder == "" && !c.To.Before(k.earliest))
	must := running && (c.Holder == k.holder || c.Holder == "" && !c.From.Before(k.latest))
	ends := c.Attempt != 0
	switch {
	case c.Unknown && !may:
		return true, k
	case c.Unknown:
	case !ends:
		return !must, k
	case !may || c.Attempt != k.Attempt:
		return false, k
	}
	k.Losses++
	if k.State = fairlead.Waiting; k.Losses >= life.MaxLosses {
		k.State = fairlead.Failed
	}
	return true, k
}

// model is that of one task.
var model = porcupine.Model{
	Init: func() any { return task{Seen: Seen{State: fairlead.Waiting}} },
	Step: func(state, in, _ any) (bool, any) {
		return step(state.(task), in.(*Call))
	},
	DescribeOperation: func(in, _ any) string { return in.(*Call).String() },
	DescribeState: func(state any) string {
		k := state.(task)
		return fmt.Sprintf("%s attempt %d, %d fails, %d losses", k.State, k.Attempt, k.Fails, k.Losses)
	},
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

type taskName struct {
	job  int64
	task int
}

// Result is what came of a check.
type Result struct {
	Tasks, Calls int
	Bad          []string // tasks whose calls are not linearizable
	Undecided    int      // tasks for which there was not time enough
}

// Check checks the calls of all tasks, for at most a time for each. Pictures of those that
// are wrong are written to a directory, if one is named.
func Check(calls []*Call, most time.Duration, pictures string) (r Result) {
	r.Calls = len(calls)
	for name, ops := range byTask(calls) {
		r.Tasks++
		verdict, info := porcupine.CheckOperationsVerbose(model, ops, most)
		switch verdict {
		case porcupine.Unknown:
			r.Undecided++
		case porcupine.Illegal:
			text := fmt.Sprintf("job %d task %d: %d calls", name.job, name.task, len(ops))
			if file, err := picture(info, pictures); err != nil {
				text += ": " + err.Error()
			} else if file != "" {
				text += ", drawn in " + file
			}
			r.Bad = append(r.Bad, text)
		}
	}
	slices.Sort(r.Bad)
	return r
}

func picture(info porcupine.LinearizationInfo, dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	f, err := os.CreateTemp(dir, "lease-*.html")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.Name(), porcupine.Visualize(model, info, f)
}

// byTask sorts calls by the tasks that they concern. A lease whose answer was lost may have
// taken any task of its job, an expiry concerns all of them.
func byTask(calls []*Call) map[taskName][]porcupine.Operation {
	over := map[taskName]int64{} // when it is known that nothing happens any more
	for _, c := range calls {
		n := taskName{c.Job, c.Task}
		if c.Task < 0 {
			continue
		}
		if _, seen := over[n]; !seen {
			over[n] = forever
		}
		if c.ended() {
			over[n] = min(over[n], c.Done)
		}
	}
	all := map[taskName][]porcupine.Operation{}
	add := func(n taskName, c *Call) {
		all[n] = append(all[n], porcupine.Operation{ClientId: max(0, c.Client), Input: c, Call: c.Begun, Return: c.Done})
	}
	for _, c := range calls {
		switch {
		case c.Refused:
		case c.Task >= 0:
			add(taskName{c.Job, c.Task}, c)
		default:
			for n, end := range over {
				if k := c.of(n); k != nil && (c.Begun <= end || k.Attempt > 0) {
					add(n, k)
				}
			}
		}
	}
	return all
}

// ended reports whether the answer to a call was that the task is over.
func (c *Call) ended() bool {
	return !c.Unknown && (c.Verb == Finish && !c.Stale && !c.Again || c.Verb == Read && c.Seen.State.Ended())
}

// of is the part of a call on many tasks that concerns one; nil if none does.
func (c *Call) of(n taskName) *Call {
	if c.Job != 0 && c.Job != n.job {
		return nil
	}
	k := *c
	k.Job, k.Task = n.job, n.task
	for _, r := range c.Lost {
		if r.JobID == n.job && r.Task == n.task {
			k.Attempt = r.Attempt
		}
	}
	return &k
}
