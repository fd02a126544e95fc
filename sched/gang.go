package sched

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// A gang is a job whose tasks start all at once, or not at all (Ousterhout, "Scheduling
// techniques for concurrent systems", ICDCS 1982, calls it coscheduling). How many they are
// is part of what they ask for, so that the jobs of a line are gangs of one size. A gang
// waits as long as a task of it runs, or is not back.

// gangOf is how many tasks of a shape start all at once; 0 if each starts for itself.
func (s *Scheduler) gangOf(shape cluster.Shape) int32 {
	n, _ := s.cluster.Gang(shape)
	if n < 2 {
		return 0
	}
	return int32(n)
}

// atOnce is how many tasks of a shape start at once: 1, or all of a gang.
func (s *Scheduler) atOnce(shape cluster.Shape) int64 {
	n, _ := s.cluster.Gang(shape)
	return int64(n)
}

// startAt starts what the head of a line stands for on the node that was found for it, or
// on those of hosts: a task or a gang.
func (s *Scheduler) startAt(leaf int32, at lineRef, h head, node cluster.NodeID, from int32, d *Decision) {
	if s.gangOf(s.line(at).shape) == 0 {
		s.start(leaf, at, h, node, from, d)
		return
	}
	for _, node := range s.hosts {
		s.start(leaf, at, h, node, from, d)
		h.begun = s.begunOf[h.id]
	}
}

// find finds a node on which a task of a shape fits now, or those for a gang, and which it
// may use for as long as it may run.
func (s *Scheduler) find(shape cluster.Shape, limit time.Duration) (node cluster.NodeID, fits bool) {
	gang := s.gangOf(shape) > 0
	if !gang && !s.cluster.Windowed() {
		return s.cluster.Place(shape)
	}
	now := s.instantOf()
	if !gang {
		return s.cluster.PlaceUntil(shape, now, now+planned(limit))
	}
	s.hosts, fits = s.cluster.PlaceGangUntil(shape, now, now+planned(limit), s.hosts[:0])
	if fits {
		node = s.hosts[0]
	}
	return node, fits
}

// admits reports whether a pool admits what a line would start next.
func (s *Scheduler) admits(l *limit, pool int32, shape cluster.Shape) bool {
	n := s.atOnce(shape)
	if !l.admits(s.cluster.Request(shape), n) {
		return false
	}
	return n == 1 || (l.tasks == 0 || int64(s.pools[pool].Tasks)+n <= int64(l.tasks)) && (l.jobRunning == 0 || n <= int64(l.jobRunning))
}

// gangGate says for how many tasks of a gang there is room, and how many there could be.
func (s *Scheduler) gangGate(shape cluster.Shape) why.Gate {
	n, spread := s.cluster.Gang(shape)
	could, now := s.cluster.GangRoom(shape)
	g := why.Gate{Name: "nodes", Where: "nodes", Open: now >= n, Used: fmt.Sprint(now), Limit: fmt.Sprint(n)}
	away, more := s.suitingAway(shape)
	what := fmt.Sprintf("its %d tasks start all at once", n)
	if spread {
		what += ", each on a node of its own"
	}
	switch {
	case g.Open:
		g.Text = fmt.Sprintf("%s; there is room for %d", what, now)
	case could < n && away != "" && could+more >= n:
		g.Code, g.Text = why.NoNodes, fmt.Sprintf("%s, and there is room for %d at most while nodes are %s", what, could, away)
	case could < n && !s.cluster.Could(shape):
		g.Code, g.Text = why.FitNever, fmt.Sprintf("%s, and there is room for %d, even if nothing else ran", what, could)
	default:
		g.Code, g.Text = why.FitNow, fmt.Sprintf("%s; there is room for %d now", what, now)
	}
	return g
}

// gangLimit is the gate of a limit to the tasks of one job at once, which a gang that is
// larger never passes.
func (s *Scheduler) gangLimit(id PoolID, path string, shape cluster.Shape) []why.Gate {
	if shape == noShape {
		return nil
	}
	l, n := s.limits(int32(id)), s.gangOf(shape)
	if l == nil || l.jobRunning == 0 || n == 0 {
		return nil
	}
	g := why.Gate{Name: "job_max_running", Where: path, Open: n <= l.jobRunning, Used: "0", Limit: fmt.Sprint(l.jobRunning)}
	if !g.Open {
		g.Code, g.Need = why.GateNever, fmt.Sprint(n)
		g.Text = fmt.Sprintf("its %d tasks start all at once, and %s allows %d of one job", n, path, l.jobRunning)
	}
	return []why.Gate{g}
}
