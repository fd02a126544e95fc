package why

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// ahead prints the pools whose tasks start before the job.
func (a *Answer) ahead(b *strings.Builder) {
	const most = 8
	for i, x := range a.Ahead {
		label := "        "
		if i == 0 {
			label = "  AHEAD "
		}
		if i == most {
			fmt.Fprintf(b, "%s… and %s\n", label, moreAhead(a.Ahead[most:]))
			return
		}
		fmt.Fprintf(b, "%s%-24s %8s %10s %8s %s   %s\n", label, x.name(), count(x.Jobs, "job"), count(x.Tasks, "task"),
			Short(x.Units), a.Units.Unit, a.decidedWhere(x))
	}
}

// name is the pool's name, followed by the priority if the line counts one priority only.
func (x *Ahead) name() string {
	if x.Priority == "" {
		return share.Original(x.Pool)
	}
	return share.Original(x.Pool) + " (" + x.Priority + ")"
}

// moreAhead counts the pools in the omitted lines. A pool may have one line per priority.
func moreAhead(lines []Ahead) string {
	pools := map[string]bool{}
	for _, x := range lines {
		pools[x.Pool] = true
	}
	if len(pools) == len(lines) {
		return count(int64(len(pools)), "more pool")
	}
	return fmt.Sprintf("%d more, of %s", len(lines), count(int64(len(pools)), "pool"))
}

// decidedWhere names the pool whose comparison put the tasks of x before the job.
func (a *Answer) decidedWhere(x Ahead) string {
	n := len(a.Levels)
	switch {
	case x.Own && n > 0 && a.Levels[n-1].Jobs:
		return "jobs of the same pool with a higher priority"
	case x.Own && x.Priority != "":
		return "earlier jobs of the same pool and priority"
	case x.Own:
		return "earlier jobs of the same pool"
	case x.Level == "":
		return "decided in the cluster"
	}
	return "decided in " + share.Original(x.Level)
}
