package sched

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/why"
)

// rebalance stops tasks of children that are above their targets, in pools whose
// allotter finds that its children have been too far apart for too long, and plans what
// is to start instead.
func (s *Scheduler) rebalance(d *Decision) {
	s.nextRebalance = time.Time{}
	for _, id := range s.rebalancers {
		in := &s.inners[s.pools[id].inner]
		threshold, after := in.allot.Rebalances()
		s.retarget(in)
		a, classes := in.allotting, s.classesLeft(in)
		spread := in.allot.Spread(a.whole, classes)
		if spread <= threshold {
			a.over = time.Time{}
			continue
		}
		if a.over.IsZero() {
			a.over = s.at
		}
		// longer than the duration, so at the earliest the instant after it
		if due := a.over.Add(after + 1); s.at.Before(due) {
			if s.nextRebalance.IsZero() || due.Before(s.nextRebalance) {
				s.nextRebalance = due
			}
			continue
		}
		starts, stops := in.allot.Rebalance(s.room()+s.leavingUnits(), classes)
		since := a.over
		a.over = time.Time{}
		a.plan = s.planOf(in, starts)
		a.plan.pinned = true
		s.stopAbove(in, stops, StopReason{
			Rule: StopRebalance, Since: since,
			Choice: fmt.Sprintf("the newest tasks of the pool; the children of %s lie %.1f points apart, more than %v, for %s",
				pathOf(s.Path(PoolID(id))), spread, threshold, why.Duration(s.at.Sub(since))),
		}, d)
	}
}

func pathOf(path string) string { return cmp.Or(path, "the root") }

// FarApartSince says since when the children of pools whose allotter stops tasks have been
// too far apart, if they are.
func (s *Scheduler) FarApartSince(t time.Time) {
	for _, id := range s.rebalancers {
		s.inners[s.pools[id].inner].over = t
	}
}

// classesLeft are the children without the tasks that are about to end.
func (s *Scheduler) classesLeft(in *inner) []Claimant {
	all := s.classes(in)
	for _, r := range s.leavingRuns() {
		if kid := s.childAbove(in.id, r.pool); kid >= 0 {
			all[s.pools[kid].kid].Running -= int64(s.cluster.Width(r.shape))
		}
	}
	return all
}

// leavingUnits are the slots of the tasks that are about to end.
func (s *Scheduler) leavingUnits() int64 {
	n := int64(0)
	for _, r := range s.leavingRuns() {
		n += int64(s.cluster.Width(r.shape))
	}
	return n
}

// childAbove is the child of a pool through which the way goes down to another; -1 if it
// does not.
func (s *Scheduler) childAbove(parent, id int32) int32 {
	for ; id >= 0; id = s.pools[id].parent {
		if s.pools[id].parent == parent {
			return id
		}
	}
	return -1
}

// stopAbove stops the newest tasks of the children, as many slots as stops says.
func (s *Scheduler) stopAbove(in *inner, stops []int64, reason StopReason, d *Decision) {
	var newest []int32
	for i := range s.runs {
		if s.stoppable(&s.runs[i]) {
			newest = append(newest, int32(i))
		}
	}
	slices.SortFunc(newest, func(a, b int32) int {
		return cmp.Or(s.runs[b].started.Compare(s.runs[a].started), cmp.Compare(s.runs[b].serial, s.runs[a].serial), cmp.Compare(b, a))
	})
	reason.For = s.firstBelow(in)
	if p := &s.pools[reason.For]; reason.For != PoolID(in.id) {
		reason.Running, reason.Goal = p.Running, p.Target
		reason.Owed = math.Max(0, p.Target-p.Running) * s.at.Sub(reason.Since).Seconds()
	}
	for _, i := range newest {
		r := &s.runs[i]
		kid := s.childAbove(in.id, r.pool)
		if kid < 0 {
			continue
		}
		p, width := &s.pools[kid], int64(s.cluster.Width(r.shape))
		if stops[p.kid] < width {
			continue
		}
		stops[p.kid] -= width
		reason.From, reason.FromRunning, reason.FromGoal = PoolID(kid), p.Running, p.Target
		s.stop(r.id(int(i)), reason, d)
	}
}

// firstBelow is the child that the plan serves first.
func (s *Scheduler) firstBelow(in *inner) PoolID {
	if len(in.allotting.plan.order) == 0 {
		return PoolID(in.id)
	}
	return PoolID(in.allotting.plan.order[0])
}
