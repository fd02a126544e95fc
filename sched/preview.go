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
	s.preview(false, func(f *Scheduler, st Start) bool { return visit(st, f.cluster.Width(f.run(st.Run).shape)) })
}

// preview shows the fork, too, in which the tasks start. If licensed is set there are
// licences for all.
func (s *Scheduler) preview(licensed bool, visit func(f *Scheduler, st Start) bool) {
	f := s.forkNow()
	f.boundless()
	if licensed {
		for i := range f.licenses {
			f.licenses[i].total = math.MaxInt64
		}
	}
	f.oneByOne, f.rebalancers = true, nil
	var d Decision
	for {
		f.Step(f.at, 1, &d)
		for _, st := range d.Starts { // several of a gang
			if !visit(f, st) {
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
