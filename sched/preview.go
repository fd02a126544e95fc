package sched

import (
	"math"

	"github.com/fairlead/fairlead/cluster"
)

// Preview tells in which order tasks would start if room came slot by slot and
// nothing ended or arrived: it lets a fork step on a machine without bounds. visit
// is called for each task with the units that it asks for, until it returns false.
// What a maximum holds back does not appear.
func (s *Scheduler) Preview(visit func(st Start, units float64) bool) {
	s.preview(func(f *Scheduler, st Start) bool { return visit(st, f.cluster.Width(f.run(st.Run).shape)) })
}

// preview shows the fork, too, in which the tasks start.
func (s *Scheduler) preview(visit func(f *Scheduler, st Start) bool) {
	f := s.forkNow()
	f.boundless()
	f.oneByOne, f.rebalancers = true, nil
	var d Decision
	for {
		f.Step(f.at, 1, &d)
		if len(d.Starts) == 0 || !visit(f, d.Starts[0]) {
			return
		}
	}
}

// boundless adds a node that takes everything that any shape asks for.
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
	s.cluster.Join("", all)
	s.openFits()
}
