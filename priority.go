package fairlead

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/why"
)

// jobReason says that another job of the same pool has the higher priority.
func jobReason(id int64, text, first string) why.Reason {
	return why.Reason{
		Code: why.OrderBehind, Text: text,
		Next: fmt.Sprintf("fairlead why %d --vs %s", id, strings.TrimPrefix(first, "job ")),
	}
}

// Priorities are what the jobs that wait have for a priority, term by term, where the
// policy gives them one; the key is 0 less the priority.
func (l *Loop) Priorities(_ context.Context, jobs []*Job) map[int64]why.Terms {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.core.Ranks() {
		return nil
	}
	out := map[int64]why.Terms{}
	for _, j := range jobs {
		if j.Waiting == 0 || j.State.Ended() {
			continue
		}
		if t, ok := l.core.Priority(l.jobOf(headerOf(j))); ok {
			out[j.ID] = t
		}
	}
	return out
}

// versusByPriority compares two jobs by their own priorities, if that is what decides.
func (l *Loop) versusByPriority(c *why.Comparison, j, against *Job) bool {
	if against == nil || j.ID == against.ID {
		return false
	}
	level, ok := l.core.JobPair(l.jobOf(headerOf(j)), l.jobOf(headerOf(against)))
	if ok {
		c.Decide(level)
	}
	return ok
}
