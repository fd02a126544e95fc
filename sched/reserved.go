package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// reserved is room that is kept for a task, or for all of a gang.
type reserved struct {
	job      int64 // 0: none
	at       lineRef
	key      float64 // order of arrival
	shape    cluster.Shape
	nodes    []cluster.NodeID // one for each task; a list that is never changed
	from, to int64
}

// unplaced is the instant of a task for which no room was found yet.
const unplaced = -1

// unplacedAt is a task of a job in a line, or a gang, for which no room is kept yet.
func (s *Scheduler) unplacedAt(at lineRef, job int64) reserved {
	return reserved{job: job, at: at, key: s.arrivalOf(at, job), shape: s.line(at).shape, from: unplaced}
}

// keepRoom keeps the earliest room that there is, and reports whether there is any.
func (s *Scheduler) keepRoom(r *reserved) bool {
	before := int64(cluster.Forever)
	if w := s.cfg.Window; w > 0 {
		before = s.instantOf() + int64(w)
	}
	return s.keepBefore(r, planned(s.line(r.at).limit), before)
}

// keepBefore keeps the earliest room for length that begins before an instant.
func (s *Scheduler) keepBefore(r *reserved, length, before int64) bool {
	for from := s.instantOf(); ; {
		at, nodes, found := s.earliest(r.shape, length, from, before)
		if !found {
			return false
		}
		if from, found = s.licensesFrom(r.shape, length, at, before); !found {
			return false
		}
		if from == at {
			r.from, r.to, r.nodes = at, at+length, nodes
			s.holdRoom(r, -1)
			return true
		}
	}
}

// earliest finds the first instant from from on at which nodes have room for length.
func (s *Scheduler) earliest(shape cluster.Shape, length, from, before int64) (int64, []cluster.NodeID, bool) {
	if s.gangOf(shape) > 0 {
		return s.backfill.plan.EarliestGang(shape, length, from, before, nil)
	}
	at, node, found := s.backfill.plan.Earliest(shape, length, from, before)
	if !found {
		return 0, nil, false
	}
	return at, s.alone(node), true
}

// alone is the list of one node. There is one for each, so that room for a single task costs
// no memory of its own.
func (s *Scheduler) alone(node cluster.NodeID) []cluster.NodeID {
	for n := len(s.single); n <= int(node); n++ {
		s.single = append(s.single, cluster.NodeID(n))
	}
	return s.single[node : node+1 : node+1]
}

// moveSooner moves room that is kept to the earliest instant before it, if there is any.
func (s *Scheduler) moveSooner(r *reserved) {
	now, length, p := s.instantOf(), r.to-r.from, s.backfill.plan
	if len(r.nodes) > 1 || s.holdsLicense(r.shape) {
		s.holdRoom(r, +1)
		if !s.keepBefore(r, length, r.from) {
			s.holdRoom(r, -1)
		}
		return
	}
	if t, node, sooner := p.Sooner(r.shape, length, now, r.from, r.nodes[0]); sooner {
		s.holdRoom(r, +1)
		r.from, r.to, r.nodes = t, t+length, s.alone(node)
		s.holdRoom(r, -1)
	}
}

// holdRoom takes room out of the plan with the sign -1, and gives it back with +1.
func (s *Scheduler) holdRoom(r *reserved, sign int64) {
	for _, node := range r.nodes {
		if sign < 0 {
			s.backfill.plan.Take(node, r.shape, r.from, r.to)
		} else {
			s.backfill.plan.Give(node, r.shape, r.from, r.to)
		}
		s.planLicenses(r.shape, sign, r.from, r.to)
	}
}

// on reports whether it is, in part, on a node.
func (r *reserved) on(id cluster.NodeID) bool { return slices.Contains(r.nodes, id) }

// same reports whether it is the same room for the same job.
func (r *reserved) same(x *reserved) bool {
	return r.job == x.job && r.at == x.at && r.from == x.from && slices.Equal(r.nodes, x.nodes)
}

// isThere reports whether the nodes have the room now.
func (s *Scheduler) isThere(r *reserved) bool {
	tasks := map[cluster.NodeID]int{}
	if len(r.nodes) == 1 {
		return s.cluster.Fits(r.nodes[0], r.shape)
	}
	for _, node := range r.nodes {
		tasks[node]++
	}
	for node, n := range tasks {
		if s.cluster.FitNow(node, r.shape) < n {
			return false
		}
	}
	return true
}

// came notes that tasks of a job wait.
func (s *Scheduler) came(job int64, at lineRef, tasks int32) {
	b := &s.backfill
	if b.plan == nil || b.keep.relist {
		return
	}
	if s.gangOf(s.line(at).shape) > 0 {
		if tasks = s.startsOf(job, at); tasks == 0 {
			return // not all of them are back
		}
	}
	b.keep.fresh = append(b.keep.fresh, waiting{job, at, tasks})
}
