package words

import (
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/queue"
)

// Cause says in a few words why a job failed, or how else it ended: jobs with the same words share a line in the list
// of failed jobs. It is empty for a job that has not ended.
func Cause(j *api.Job) string {
	state := queue.State(j.State)
	if t := j.LastEnd; t != nil && (state == queue.Failed || !state.Ended()) {
		switch {
		case strings.HasPrefix(t.Cause, timeLimit):
			return timeLimit
		case t.Signal != "":
			return t.Signal
		case t.ExitCode < 0 && t.Cause != "": // it could not be started
			return clause(t.Cause)
		case t.ExitCode != 0:
			return "exit " + strconv.Itoa(t.ExitCode)
		case t.Cause != "":
			return clause(t.Cause)
		}
	}
	switch {
	case !state.Ended():
		return ""
	case j.Cause != "":
		return clause(j.Cause)
	}
	return j.State
}

// timeLimit begins the cause of a task that ran until its time limit. The signal that ended it says less.
const timeLimit = "time limit"

// clause returns the first clause of a text. It drops the other clauses, because these name nodes and times, which
// differ from job to job.
func clause(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line, _, _ = strings.Cut(line, "; ")
	if head, _, more := strings.Cut(line, ": "); more {
		line = head
	}
	return plain.Line(line)
}
