package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// EndedReason says how a job ended, and where to read more.
func EndedReason(j *queue.Job, tasks []queue.Task) why.Reason {
	how := j.EndEvent().Text
	r := why.Reason{Code: why.StateEnded}
	if rest, canceled := strings.CutPrefix(how, "canceled"); canceled {
		r.Text = "canceled " + instant.Text(j.Ended) + rest
	} else {
		state := string(j.State)
		r.Text = fmt.Sprintf("it %s %s%s", state, instant.Text(j.Ended), strings.TrimPrefix(how, state))
	}
	if len(tasks) == 1 && j.Tasks == 1 && tasks[0].Attempt > 1 {
		r.Text += fmt.Sprintf(" (attempt %d)", tasks[0].Attempt)
	}
	if r.Next = fmt.Sprintf("fairlead logs %d", j.ID); !printed(j, tasks) {
		r.Next = fmt.Sprintf("fairlead history -j %d", j.ID)
	}
	return r
}

// printed reports whether an ended job may have printed something: a task of it began, and its command was found.
func printed(j *queue.Job, tasks []queue.Task) bool {
	if j.Started.IsZero() {
		return false
	}
	began := func(t queue.Task) bool { return !t.Started.IsZero() && t.Outcome.Refused == "" && !t.Outcome.NotFound }
	return len(tasks) != j.Tasks || slices.ContainsFunc(tasks, began) // an unlisted task may have begun
}
