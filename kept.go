package fairlead

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/why"
)

// tellKept says of a job that would fit for whom room is kept that it would take.
func tellKept(gates []why.Gate, limit time.Duration, now time.Time) {
	for i := range gates {
		g := &gates[i]
		if g.Kept == nil {
			continue
		}
		long := "it has no time limit"
		if limit > 0 {
			long = "it may run until " + why.Clock(now.Add(limit), now)
		}
		g.Text = fmt.Sprintf("it would fit on %s now, but %s, and room is kept there for job %d from %s",
			strings.Join(g.Kept.Nodes, ", "), long, g.Kept.Job, why.Clock(g.Kept.From, now))
	}
}

// keptReason tells of the room that is kept for a job, or for another in its way.
func (l *Loop) keptReason(j *Job, kept map[int64]why.Kept, r *ShortReason, now time.Time) bool {
	if len(kept) == 0 || r.Rank == 0 {
		return false
	}
	if own, yes := kept[j.ID]; yes {
		r.Code, r.Text = why.FitNow, "room, kept from "+why.Clock(own.From, now)
		return true
	}
	other := l.core.InTheWay(l.jobOf(headerOf(j)))
	if other == nil {
		return false
	}
	r.Code, r.Text = why.FitReserved, fmt.Sprintf("room kept for %d from %s", other.Job, why.Clock(other.From, now))
	return true
}
