package linear

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/fairlead/fairlead/queue"
)

// model returns the model of one task with a number of answered calls. Calls without an answer have no end
// for the checker: the model decides how long they may take effect.
func model(answers int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return task{Seen: Seen{State: queue.Waiting}} },
		Step: func(state, in, _ any) (bool, any) {
			return state.(task).step(in.(*Call), answers)
		},
		DescribeOperation: func(in, _ any) string { return in.(*Call).String() },
		DescribeState: func(state any) string {
			k := state.(task)
			return fmt.Sprintf("%s attempt %d, %d fails, %d losses", k.State, k.Attempt, k.Fails, k.Losses)
		},
	}
}

type taskName struct {
	job  int64
	task int
}

// Result is the result of a check.
type Result struct {
	Tasks, Calls int
	Bad          []string // tasks whose calls are not linearizable
	Undecided    int      // tasks for which the time did not suffice
	Kept         string   // the file with all calls, if a task is bad or undecided
}

// String reports the faults, and how to check again; "" if there are none.
func (r Result) String() string {
	if len(r.Bad)+r.Undecided == 0 {
		return ""
	}
	text := fmt.Sprintf("not linearizable: %q; undecided: %d", r.Bad, r.Undecided)
	if r.Kept != "" {
		text += "; to check the calls again: go test ./store/internal/linear -run=TestKeptCalls -calls=" + r.Kept
	}
	return text
}

// Check checks the calls of each task, for at most the given time. If some are wrong or undecided and dir is
// not empty, it writes all calls and pictures of the faults into dir.
func Check(calls []*Call, most time.Duration, dir string) (r Result) {
	r.Calls = len(calls)
	for name, ops := range byTask(calls) {
		r.Tasks++
		m := model(answers(ops))
		verdict, info := porcupine.CheckOperationsVerbose(m, ops, most)
		switch verdict {
		case porcupine.Unknown:
			r.Undecided++
		case porcupine.Illegal:
			text := fmt.Sprintf("job %d task %d: %d calls", name.job, name.task, len(ops))
			if file, err := picture(m, info, dir); err != nil {
				text += ": " + err.Error()
			} else if file != "" {
				text += ", drawn in " + file
			}
			r.Bad = append(r.Bad, text)
		}
	}
	slices.Sort(r.Bad)
	if dir != "" && len(r.Bad)+r.Undecided > 0 {
		var err error
		if r.Kept, err = keep(calls, dir); err != nil {
			r.Bad = append(r.Bad, "the calls could not be kept: "+err.Error())
		}
	}
	return r
}

func picture(m porcupine.Model, info porcupine.LinearizationInfo, dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	f, err := os.CreateTemp(dir, "lease-*.html")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.Name(), porcupine.Visualize(m, info, f)
}

// answers counts the calls that were answered.
func answers(ops []porcupine.Operation) (n int) {
	for _, op := range ops {
		if !op.Input.(*Call).Unknown {
			n++
		}
	}
	return n
}

// operation converts a call for the checker.
func operation(c *Call) porcupine.Operation {
	op := porcupine.Operation{ClientId: max(0, c.Client), Input: c, Call: c.Begun, Return: c.Done}
	if c.Unknown {
		op.Return = forever
	}
	return op
}

// byTask groups calls by task. A lease whose answer was lost may have taken any task of its job, and an expiry concerns
// all tasks. byTask leaves out calls without an effect on a task. These are calls that began after the end of the task,
// and calls without an answer that were over before the job was first leased.
func byTask(calls []*Call) map[taskName][]porcupine.Operation {
	over := map[taskName]int64{} // when nothing can happen any more
	first := firstLeases(calls)
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
		all[n] = append(all[n], operation(c))
	}
	for _, c := range calls {
		switch {
		case c.Refused:
		case c.Task >= 0:
			add(taskName{c.Job, c.Task}, c)
		default:
			for n, end := range over {
				early := c.Unknown && c.Done < first[n.job]
				if k := c.of(n); k != nil && !early && (c.Begun <= end || k.Attempt > 0) {
					add(n, k)
				}
			}
		}
	}
	return all
}

// firstLeases returns when the first lease of each job was requested.
func firstLeases(calls []*Call) map[int64]int64 {
	first := map[int64]int64{}
	for _, c := range calls {
		if at, seen := first[c.Job]; c.Verb == Lease && (!seen || c.Begun < at) {
			first[c.Job] = c.Begun
		}
	}
	return first
}

// ended reports whether the answer to a call was that the task is over.
func (c *Call) ended() bool {
	return !c.Unknown && (c.Verb == Finish && !c.Stale && !c.Again || c.Verb == Read && c.Seen.State.Ended())
}

// of returns the part of a call on many tasks that concerns one task, or nil if no part does.
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
