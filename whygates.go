package fairlead

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/why"
)

// jobGates are the restrictions that are the job's own.
func jobGates(j *Job, tasks []Task, blockers []string, now time.Time) []why.Gate {
	held := why.Gate{Name: "held", Where: "job", Open: !j.Held}
	if j.Held {
		held.Code, held.Text = why.GateHeld, "the job is held"
	}
	after := why.Gate{Name: "after", Where: "job", Open: j.Pending == 0}
	if j.Pending > 0 {
		after.Code, after.Text = why.GateAfter, "it waits for the end of "+strings.Join(blockers, ", ")
	}
	begin := why.Gate{Name: "begin", Where: "job", Open: true}
	if from, try := earliest(j, tasks); from.After(now) {
		begin.Open, begin.Code = false, why.GateBegin
		begin.Text = "it may begin at " + from.Local().Format("2006-01-02 15:04:05")
		if try > 1 {
			begin.Text = fmt.Sprintf("pause before try %d until %s", try, from.Local().Format("15:04:05"))
		}
	}
	return []why.Gate{held, begin, after}
}

// earliest is when the first waiting task of a job may start, and its number of try.
func earliest(j *Job, tasks []Task) (from time.Time, try int) {
	from, try = j.Begin, 1
	started := 0
	for _, t := range tasks {
		started = max(started, t.Index+1)
	}
	found := started < j.Tasks
	for _, t := range tasks {
		if t.State == Waiting && (!found || t.Begin.Before(from)) {
			from, try, found = t.Begin, t.Attempt+1, true
		}
	}
	return from, try
}
