package life

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// Allowed returns an error if an alteration is not possible in the state of a job.
func Allowed(j *queue.Job, a queue.Alteration) error {
	no := func(why string) error {
		return fmt.Errorf("job %d %s: %w", j.ID, why, queue.ErrState)
	}
	if err := mayAlter(j, a); err != nil {
		return err
	}
	if a.Waiting && a.Verb != queue.VerbCancel {
		return queue.Invalidf("waiting", "only the verb cancel can be limited to waiting tasks")
	}
	ended := j.State.Ended()
	switch a.Verb {
	case queue.VerbCancel, queue.VerbHold, queue.VerbPrioritise:
		if ended {
			return no("has ended (" + string(j.State) + ")")
		}
		if a.Verb != queue.VerbCancel && j.Cancel {
			return no("is being canceled")
		}
		if a.Verb == queue.VerbHold {
			return mayHold(j, a)
		}
		if a.Verb == queue.VerbCancel && a.Waiting {
			return mayCancelWaiting(j)
		}
	case queue.VerbMove, queue.VerbLimit:
		return mayReplace(j, a)
	case queue.VerbRelease:
		return mayRelease(j, a)
	case queue.VerbRequeue:
		if !ended && j.Running == 0 {
			return no("waits already")
		}
		if j.Cancel && !ended {
			return no("is being canceled")
		}
	case queue.VerbUncancel:
		return mayUncancel(j)
	default:
		return &queue.Invalid{Field: "verb", Msg: fmt.Sprintf("%q is not known", a.Verb)}
	}
	return nil
}

// mayReplace returns an error if the pool or the time limit of a job cannot change. That is so if the job has ended, or
// if tasks run that began with the present pool or limit.
func mayReplace(j *queue.Job, a queue.Alteration) error {
	ended, runs := "", "its time limit can change only while it waits"
	if a.Verb == queue.VerbMove {
		not := "cannot move to " + share.Original(a.Pool)
		ended, runs = " and "+not+": submit it again there", "it "+not+" while one of its tasks runs"
	}
	switch {
	case j.State.Ended():
		return fmt.Errorf("job %d has ended (%s)%s: %w", j.ID, j.State, ended, queue.ErrState)
	case j.Cancel:
		return fmt.Errorf("job %d is being canceled: %w", j.ID, queue.ErrState)
	case j.Running > 0:
		return fmt.Errorf("job %d is running: %s; to stop it first: fairlead hold %[1]d; fairlead requeue %[1]d: "+
			"%[3]w", j.ID, runs,
			queue.ErrState)
	}
	return nil
}

// mayAlter returns an error if a user may not change a job: the job belongs to another user, and is in no pool that the
// user operates. The store calls it in the transaction, because the job may have moved to another pool since an earlier
// check.
func mayAlter(j *queue.Job, a queue.Alteration) error {
	operates := func(pool string) bool { return share.Inside(j.Pool, pool) }
	if a.By == "" || a.Admin || a.By == j.User || slices.ContainsFunc(strings.Fields(a.Within), operates) {
		return nil
	}
	return fmt.Errorf("job %d belongs to %s and is in %s: you (%s) may not change it: %w", j.ID, j.User, j.Pool, a.By,
		queue.ErrForbidden)
}

// AlterEvent returns the event of an alteration for the job's history. Call it before the job is changed: the event of
// a cancel says how many tasks waited, and the events of a move and of a priority name the former pool or priority.
func AlterEvent(j *queue.Job, a queue.Alteration, now time.Time) queue.Event {
	text := string(a.Verb)
	if a.Verb == queue.VerbCancel && a.Waiting {
		text += " " + units.Plural(j.Waiting, "waiting task")
	}
	if a.Verb == queue.VerbPrioritise {
		if a.Priority != "" {
			text += " from " + j.Priority + " to " + a.Priority
		}
		if a.QOS != nil {
			text += fmt.Sprintf(" qos %q", *a.QOS)
		}
		if a.Nice != nil {
			text += fmt.Sprintf(" nice %d", *a.Nice)
		}
	}
	if a.Verb == queue.VerbMove {
		text += " from " + j.Pool + " to " + a.Pool
		if a.Limit != j.Limit {
			text += " with the time limit " + limitText(a.Limit)
		}
	}
	if a.Verb == queue.VerbLimit {
		text += " " + limitText(a.Limit)
	}
	if words := Words(a); words != "" {
		text += ": " + words
	}
	return queue.Event{Job: a.Job, Task: -1, At: now, Code: string(a.Verb), Text: text}
}

func limitText(limit time.Duration) string {
	if limit <= 0 {
		return "none"
	}
	return units.FormatDuration(limit)
}

// AlterAll makes the changes of one call, and returns why each was refused. The function "job" loads the job with an
// id, nil if there is none, and the function "alter" makes one change.
//
// It is not an error if another change of the call has already made a change. For canceling a job cancels the jobs that
// depend on it, and uncanceling the job brings these back.
func AlterAll(changes []queue.Alteration, job func(int64) (*queue.Job, error), alter func(queue.Alteration) (refused, err error)) ([]error, error) {
	out := make([]error, len(changes))
	could, err := applicable(changes, job)
	if err != nil {
		return nil, err
	}
	for _, i := range inOrder(changes) {
		a := changes[i]
		if out[i], err = alter(a); err != nil {
			return nil, err
		}
		if out[i] == nil || !could[i] {
			continue
		}
		j, err := job(a.Job)
		if err != nil {
			return nil, err
		}
		if j != nil && along(j, a.Verb) {
			out[i] = nil
		}
	}
	return out, nil
}

// inOrder returns the order in which to make changes: as given, except that successive uncancels begin with jobs on
// which others may depend. A job depends only on older jobs, and ids grow.
func inOrder(changes []queue.Alteration) []int {
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	for from := 0; from < len(changes); from++ {
		to := from
		for to < len(changes) && changes[to].Verb == queue.VerbUncancel {
			to++
		}
		slices.SortStableFunc(order[from:to], func(a, b int) int { return cmp.Compare(changes[a].Job, changes[b].Job) })
		from = max(from, to)
	}
	return order
}

// applicable reports which of several changes would be possible if they were made first.
func applicable(changes []queue.Alteration, job func(int64) (*queue.Job, error)) ([]bool, error) {
	could := make([]bool, len(changes))
	if len(changes) < 2 {
		return could, nil
	}
	for i, a := range changes {
		if a.Verb != queue.VerbCancel && a.Verb != queue.VerbUncancel {
			continue
		}
		j, err := job(a.Job)
		if err != nil {
			return nil, err
		}
		could[i] = j != nil && Allowed(j, a) == nil
	}
	return could, nil
}

// along reports whether a job is already in the state that a verb leads to.
func along(j *queue.Job, v queue.Verb) bool {
	if v == queue.VerbCancel {
		return j.Cancel && j.State.Ended()
	}
	return v == queue.VerbUncancel && !j.Cancel && !j.State.Ended()
}
