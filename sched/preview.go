package sched

import (
	"fmt"
	"math"
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// Preview tells in which order tasks would start if room came slot by slot and
// nothing ended or arrived: it lets a fork step on a machine without bounds. visit
// is called for each task with the units that it asks for, until it returns false.
// What a maximum holds back does not appear.
func (s *Scheduler) Preview(visit func(st Start, units float64) bool) {
	s.forkNow().AsOutlook().Preview(visit)
}

// preview shows the fork, too, in which the tasks start. If licensed is set there are
// licences for all.
func (s *Scheduler) preview(licensed bool, visit func(f *Scheduler, st Start) bool) {
	f := s.forkNow()
	if licensed {
		for i := range f.licenses {
			f.licenses[i].total = math.MaxInt64
		}
	}
	f.oneByOneFrom(visit)
}

// Outlook is a copy of a scheduler for one preview. It may be used while the scheduler goes on, and
// is cheaper than a [Future]: of room in the future it knows nothing.
type Outlook struct{ s *Scheduler }

// Outlook returns the outlook as it is now.
func (s *Scheduler) Outlook() *Outlook {
	f := s.forkNow()
	f.everywhere()
	return f.AsOutlook()
}

// AsOutlook makes a copy the outlook: it is not to be used otherwise any more.
func (s *Scheduler) AsOutlook() *Outlook { return &Outlook{s} }

// Preview is [Scheduler.Preview], once.
func (o *Outlook) Preview(visit func(st Start, units float64) bool) {
	o.s.oneByOneFrom(func(f *Scheduler, st Start) bool { return visit(st, f.cluster.Width(f.run(st.Run).shape)) })
}

// Path is [Scheduler.Path].
func (o *Outlook) Path(id PoolID) string { return o.s.Path(id) }

// oneByOneFrom lets a copy start one task after the other on a machine without bounds.
func (s *Scheduler) oneByOneFrom(visit func(f *Scheduler, st Start) bool) {
	s.backfill, s.hosts, s.single = backfilling{}, nil, nil // nothing is planned ahead, and what was knows other nodes
	s.boundless()
	s.oneByOne, s.rebalancers = true, nil
	var d Decision
	for {
		s.Step(s.at, 1, &d)
		for _, st := range d.Starts { // several of a gang
			if !visit(s, st) {
				return
			}
		}
		if len(d.Starts) == 0 {
			return
		}
	}
}

// boundless adds nodes that take everything that any shape asks for.
func (s *Scheduler) boundless() {
	all := cluster.Amounts{}
	for shape := range s.cluster.Shapes() {
		for name := range s.cluster.Amounts(s.cluster.Request(cluster.Shape(shape))) {
			all[name] = math.MaxInt64 / 4
		}
	}
	s.cfg.Placement = FirstFit
	s.backfill.plan = nil // it knows nothing of these nodes
	if len(all) == 0 {
		return
	}
	// A gang may want a node for each task.
	nodes := int64(1)
	for _, shape := range slices.Concat(s.shapeReady.active, s.noRoom.active) {
		if n, spread := s.cluster.Gang(shape); spread {
			nodes = max(nodes, int64(n))
		}
	}
	for name := range all {
		all[name] /= nodes
	}
	for i := range nodes {
		s.cluster.JoinBoundless(fmt.Sprint("+", i), all)
	}
	s.openFits()
}
