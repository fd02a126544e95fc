package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/why"
)

// StateLetters maps the states to their letters in the queue.
var StateLetters = map[string]string{
	"held": "H", "blocked": "B", "waiting": "W", "queued": "Q", "running": "R", "succeeded": "S", "failed": "F", "cancelled": "C",
}

// Done reports whether a job in this state has ended.
func Done(state string) bool {
	return state == "succeeded" || state == "failed" || state == "cancelled"
}

// SortQueue puts running jobs first, then jobs in other queueing systems, then waiting jobs by rank, then
// waiting jobs without a rank, then ended jobs.
func SortQueue(jobs []api.Job) {
	class := func(j *api.Job) int64 {
		switch {
		case j.State == "running" && j.Waiting == 0:
			return -1
		case j.State == "queued" && j.Waiting == 0:
			return 0
		case j.Rank > 0:
			return j.Rank
		case Done(j.State):
			return 1 << 62
		}
		return 1 << 61
	}
	slices.SortStableFunc(jobs, func(a, b api.Job) int {
		if x, y := class(&a), class(&b); x != y {
			return int(max(min(x-y, 1), -1))
		}
		return int(max(min(a.ID-b.ID, 1), -1))
	})
}

// JobID returns the name of a job in a list: 1042, or 1042_[0-99] for an array.
func JobID(j *api.Job) string {
	id := strconv.FormatInt(j.ID, 10)
	if j.Array != "" {
		id += "_[" + strings.SplitN(j.Array, "%", 2)[0] + "]"
	}
	return id
}

// State returns the letter of a job's state, and the number of its running tasks if several run, or of its
// queued tasks if none runs.
func State(j *api.Job) string {
	n := j.Running
	if j.State == "running" {
		n -= j.Queued
	}
	if n > 1 {
		return fmt.Sprintf("%s×%d", StateLetters[j.State], n)
	}
	return StateLetters[j.State]
}

// WaitingFor returns the reason why a job waits, or the way in which it ended.
func WaitingFor(j *api.Job, now time.Time) string {
	switch {
	case j.Reason != nil:
		return instant.ByClock(j.Reason.Text, now)
	case len(j.Bridged) > 0:
		return bridgedFor(j)
	case j.State == "running" && j.RunsSince != nil:
		text := "runs " + Span(now.Sub(*j.RunsSince))
		if len(j.Nodes) > 0 {
			text += " on " + Nodes(j)
		}
		if left := Left(j, now); left != "" {
			text += ", " + left + " left"
		}
		if j.Used != nil {
			text += "; " + UsedNow(j.Used, j.Request)
		}
		return text
	case j.Ended != nil:
		return strings.TrimSpace("ended " + Clock(*j.Ended, now) + " " + j.Cause)
	}
	return ""
}

// Nodes names the first two nodes of a running job; a list knows at most ten of them.
func Nodes(j *api.Job) string {
	const most = 2
	if len(j.Nodes) > most {
		return plain.Line(strings.Join(j.Nodes[:most], ", ")) + ", …"
	}
	return plain.Line(strings.Join(j.Nodes, ", "))
}

// Left writes how long a running job may still run by its time limit. For an array, the task that began first
// counts. The text is empty if there is no limit.
func Left(j *api.Job, now time.Time) string {
	if j.RunsSince == nil || j.LimitSeconds == 0 {
		return ""
	}
	return Span(max(0, Seconds(j.LimitSeconds)-now.Sub(*j.RunsSince)))
}

// bridgedFor describes a job in another queueing system by its first task that does not run there, if there
// is such a task.
func bridgedFor(j *api.Job) string {
	for i := range j.Bridged {
		if j.Bridged[i].Phase != why.BridgedRunning {
			return j.Bridged[i].Line()
		}
	}
	return j.Bridged[0].Line()
}

// Units writes the number of units that each task of a job asks for, and for a gang also the number of tasks:
// 4x8.
func Units(j *api.Job, unit string) string {
	text := strconv.FormatInt(max(1, j.Request[unit]), 10)
	if j.Gang > 1 {
		text = fmt.Sprintf("%dx%s", j.Gang, text)
	}
	return text
}

// Limit writes the time limit of a job.
func Limit(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return units.FormatDuration(time.Duration(seconds * float64(time.Second)))
}

// Start writes the latest start of a waiting job or, after a tilde, a predicted one.
func Start(j *api.Job, now time.Time) string {
	if j.StartBy == nil {
		return "-"
	}
	if j.StartPredicted {
		return "~" + instant.Clock(*j.StartBy, now)
	}
	return instant.Clock(*j.StartBy, now)
}

// Rank writes the place of a job among the waiting jobs.
func Rank(j *api.Job) string {
	if j.Rank == 0 {
		return "-"
	}
	return strconv.FormatInt(j.Rank, 10)
}
