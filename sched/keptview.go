package sched

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// holeGate closes the gate of the nodes for a job that would fit on some now, but not for
// as long as it may run.
func (s *Scheduler) holeGate(j *Job, g why.Gate) why.Gate {
	if !g.Open {
		return g
	}
	if kept := s.InTheWay(*j); kept != nil {
		g.Open, g.Code, g.Kept = false, why.FitReserved, kept
	}
	return g
}

// InTheWay is the room kept for another job for the sake of which a job does not start that
// would fit now; nil if there is none.
func (s *Scheduler) InTheWay(j Job) *why.Kept {
	if s.backfill.plan == nil || s.isFirst(j) {
		return nil
	}
	if _, fits := s.placeBehind(j.Shape, j.Limit); fits && s.keptOf(j.ID) == nil {
		return nil
	}
	if r := s.inTheWay(&j); r != nil {
		return s.tellKept(r)
	}
	return nil
}

// inTheWay is the earliest room that is kept for another job on a node on which the job
// would fit now, and that it would delay; nil if there is none.
func (s *Scheduler) inTheWay(j *Job) *reserved {
	end := s.instantOf() + planned(j.Limit)
	var first *reserved
	for _, r := range s.keptRoom() {
		if r.from != unplaced && r.job != j.ID && r.from < end && (first == nil || r.from < first.from) && s.fitsOnOne(r.nodes, j.Shape) {
			first = &r
		}
	}
	return first
}

// fitsOnOne reports whether a task of the shape fits on some of the nodes now.
func (s *Scheduler) fitsOnOne(nodes []cluster.NodeID, shape cluster.Shape) bool {
	return slices.ContainsFunc(nodes, func(id cluster.NodeID) bool { return s.cluster.Fits(id, shape) })
}

// keptRoom is all room that is kept.
func (s *Scheduler) keptRoom() []reserved {
	b := &s.backfill
	if len(b.firsts) > 0 {
		return b.firsts
	}
	return b.keep.all
}

// keptOf is the earliest room that is kept for a job, nil if there is none.
func (s *Scheduler) keptOf(job int64) *reserved {
	var first *reserved
	for _, r := range s.keptRoom() {
		if r.job == job && r.from != unplaced && (first == nil || r.from < first.from) {
			first = &r
		}
	}
	return first
}

// Kept is the earliest room that is kept for each job, by the last step.
func (s *Scheduler) Kept() map[int64]why.Kept {
	if s.backfill.plan == nil {
		return nil
	}
	all := map[int64]why.Kept{}
	for _, r := range s.keptRoom() {
		if had, known := all[r.job]; r.from != unplaced && (!known || r.from < had.From.UnixNano()) {
			all[r.job] = *s.tellKept(&r)
		}
	}
	return all
}

// KeptFor is the room that is kept for a job, by the last step; nil if there is none.
func (s *Scheduler) KeptFor(job int64) *why.Kept {
	if s.backfill.plan == nil {
		return nil
	}
	r := s.keptOf(job)
	if r == nil {
		return nil
	}
	return s.tellKept(r)
}

func (s *Scheduler) tellKept(r *reserved) *why.Kept {
	return &why.Kept{Job: r.job, Nodes: s.nodeNames(r.nodes), From: time.Unix(0, r.from), To: time.Unix(0, r.to)}
}

// nodeNames names nodes, each once, in the order in which they joined.
func (s *Scheduler) nodeNames(ids []cluster.NodeID) []string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = s.nodeName(id)
	}
	return names
}

func (s *Scheduler) nodeName(id cluster.NodeID) string { return s.cluster.Nodes()[id].Name }
