package explain

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
)

// HeldUp counts the waiting jobs that fit only on lost nodes: no node that takes tasks could run them.
type HeldUp []heldUpBy

// heldUpBy is the number of waiting jobs that the same lost nodes delay.
type heldUpBy struct {
	lost []string
	jobs int
}

// HeldUpIn finds the waiting jobs that lost nodes delay.
func HeldUpIn(s *engine.State) (all HeldUp) {
	c := s.Core.Cluster()
	if !slices.ContainsFunc(c.Nodes(), func(n cluster.Node) bool { return n.State == cluster.Down }) {
		return nil
	}
	known := map[cluster.Key]int{} // index in all; -1: no lost node delays it
	s.Core.Read().WaitingJobs(func(key cluster.Key, _ int64) bool {
		i, seen := known[key]
		if !seen {
			i = -1
			if lost := lostFor(c, key); lost != nil {
				i, all = len(all), append(all, heldUpBy{lost: lost})
			}
			known[key] = i
		}
		if i >= 0 {
			all[i].jobs++
		}
		return i >= 0
	})
	return all
}

// Jobs returns the number of jobs that are delayed by a node for which the function "by" returns true.
func (h HeldUp) Jobs(by func(node string) bool) (jobs int) {
	for _, x := range h {
		if slices.ContainsFunc(x.lost, by) {
			jobs += x.jobs
		}
	}
	return jobs
}

// HeldUpText says how many waiting jobs are held up, as the continuation of a sentence about lost nodes; "" if there
// are none.
func HeldUpText(jobs int) string {
	if jobs == 0 {
		return ""
	}
	return fmt.Sprintf("; this delays %s", units.Plural(jobs, "waiting job"))
}

// roomlessJobs returns the waiting jobs that none of the nodes that take tasks could run.
func roomlessJobs(s *engine.State) map[int64]bool {
	out, known := map[int64]bool{}, map[cluster.Key]bool{}
	s.Core.Read().WaitingJobs(func(key cluster.Key, job int64) bool {
		could, seen := known[key]
		if !seen {
			could = roomFor(s.Core.Cluster(), key)
			known[key] = could
		}
		if !could {
			out[job] = true
		}
		return !could
	})
	return out
}

// roomFor reports whether the nodes that take tasks could run tasks with a key if they were empty.
func roomFor(c *cluster.Cluster, key cluster.Key) bool {
	empty := c.Empty()
	if tasks, _ := c.Gang(key); tasks > 1 {
		room, _ := empty.GangRoom(key)
		return room >= tasks
	}
	for i := range c.Nodes() {
		id := cluster.NodeID(i)
		if ever, _ := empty.SuitsElsewhere(id, key); ever || empty.Suits(id, key) {
			return true
		}
	}
	return false
}

// lostFor names the lost nodes that could run tasks with a key, if none of the nodes that take tasks could. A gang
// counts as delayed if it has room only together with nodes that take no tasks.
func lostFor(c *cluster.Cluster, key cluster.Key) (lost []string) {
	if roomFor(c, key) {
		return nil
	}
	empty := c.Empty()
	tasks, _ := c.Gang(key)
	room, _ := empty.GangRoom(key)
	for i, n := range c.Nodes() {
		id := cluster.NodeID(i)
		if n.State.Counts() || empty.Suits(id, key) || !n.Capacity.Covers(c.Request(key)) || !c.Must(key).Allows(n.Labels) {
			continue
		}
		room += empty.Fit(id, key)
		if n.State == cluster.Down {
			lost = append(lost, n.Name)
		}
	}
	if room < tasks {
		return nil
	}
	return lost
}

// heldUpWith says, if a job waits for lost nodes, how many jobs these nodes delay; "" if it waits for none.
func heldUpWith(s *engine.State, key cluster.Key) string {
	lost := lostFor(s.Core.Cluster(), key)
	if lost == nil {
		return ""
	}
	return HeldUpText(HeldUpIn(s).Jobs(func(node string) bool { return slices.Contains(lost, node) }))
}
