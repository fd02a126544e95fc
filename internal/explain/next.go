package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// nextReason explains a job that would start next.
func nextReason(s *engine.State, a *why.Answer, j *queue.Job) why.Reason {
	if g := a.Gates[len(a.Gates)-1]; g.Open {
		return why.Reason{Code: why.StateStarting, Text: "it is next, and there is room: it starts at the next step"}
	} else if keepsFree(g.Code) && !comesLater(g, s.Core.Cluster().Room(s.JobOf(engine.HeaderOf(j)).Key), a.At) {
		return gateReason(g)
	}
	r, unit := why.Reason{Code: lackOfRoom(s), Next: "wait"}, s.Core.Cluster().Unit()
	capacity, free, _ := s.Core.Read().Capacity()
	switch lack := lacking(s, j); {
	case lack != "":
		r.Text = fmt.Sprintf("it is next; it asks for %s%s, and %s", a.Subject.Request, where(a), lack)
	case r.Code == why.FitNow && a.Subject.Gang > 1:
		r.Text = fmt.Sprintf("it is next; it asks for %s %s, and there is no room for that (%s)",
			a.Subject.Request, a.Subject.AtOnce(), freeInAll(free[0], unit))
	case r.Code == why.FitNow:
		r.Text = fmt.Sprintf("it is next; it asks for %s on one node, and no node has that free (%s)",
			a.Subject.Request, freeInAll(free[0], unit))
	default:
		r.Text = fmt.Sprintf("it is next; all %d %s are in use%s; it starts when enough of them are free%s", capacity[0],
			unit, byTasks(s), besideHeld(s, j))
	}
	return r
}

// heldReason explains a job for which nodes are held. Such a job does not wait for its turn.
func heldReason(s *engine.State, k *room.Kept) why.Reason {
	text := fmt.Sprintf("room on %s is held for it, whichever job goes first; it starts when the tasks that run there "+
		"have ended", strings.Join(k.Nodes, ", "))
	if k.Owed {
		text += ", unless its pool has received its share before then"
	}
	return why.Reason{Code: lackOfRoom(s), Text: text, Next: "wait"}
}

// besideHeld says that nodes are held for another job, so that room that becomes free there is not for this job. It is
// empty if no nodes are held.
func besideHeld(s *engine.State, j *queue.Job) string {
	if k := heldForOther(s, j); k != nil {
		return fmt.Sprintf(" apart from the room that is held for job %d on %s", k.Job, strings.Join(k.Nodes, ", "))
	}
	return ""
}

// startsThereFirst says that another job, for which nodes are held, starts on these nodes before the jobs that the
// policy puts ahead of it.
func startsThereFirst(s *engine.State, j *queue.Job) string {
	if k := heldForOther(s, j); k != nil {
		return fmt.Sprintf("; room on %s is held for job %d, which starts there first", strings.Join(k.Nodes, ", "), k.Job)
	}
	return ""
}

// heldForOther returns the room that is held for another job; nil if there is none. With many waiting tasks it does not
// search.
func heldForOther(s *engine.State, j *queue.Job) *room.Kept {
	if s.Core.View(sched.Root).Waiting >= ManyWaiting {
		return nil
	}
	for _, k := range s.Core.Read().Kept() {
		if k.Held && k.Job != j.ID && len(k.Nodes) > 0 {
			return &k
		}
	}
	return nil
}

// freeInAll says how many units are free on all nodes together.
func freeInAll(free int64, unit string) string {
	if free == 1 {
		return fmt.Sprintf("1 %s is free in all", unit)
	}
	return fmt.Sprintf("%d %s are free in all", free, unit)
}

// where says where the job starts: " on one node" or, for a gang, how many tasks start at once.
func where(a *why.Answer) string {
	if a.Subject.Gang > 1 {
		return " " + a.Subject.AtOnce()
	}
	return " on one node"
}

// byTasks says how many tasks use the units. It is empty if some nodes take no new tasks, such as drained nodes: the
// tasks that still run there count, but the units of these nodes do not.
func byTasks(s *engine.State) string {
	counts := func(n cluster.Node) bool { return n.State.Counts() }
	if nodes := s.Core.Cluster().Nodes(); slices.ContainsFunc(nodes, func(n cluster.Node) bool { return !counts(n) }) {
		return ""
	}
	return " by " + units.Plural(int(s.Core.View(sched.Root).Tasks), "task")
}

// lacking names a resource, other than the unit of shares, that leaves no room for a job, however many units are free.
// It is empty if there is none.
func lacking(s *engine.State, j *queue.Job) string {
	c := s.Core.Cluster()
	need := c.Vector(j.Request)
	capacity, free := c.Capacity()
	for i := 1; i < min(len(need), len(free)); i++ {
		name, has := c.Resource(i), units.Amount(c.Resource(i), capacity[i])
		switch {
		case need[i]*int64(max(1, j.Gang)) <= free[i]:
		case free[i] == 0:
			return fmt.Sprintf("all %s are in use; it starts when enough of them are free", has)
		default:
			left := units.Quantity(name, free[i])
			return fmt.Sprintf("only %s of %s are free; it starts when enough of them are", left, has)
		}
	}
	return ""
}
