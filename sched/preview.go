package sched

import (
	"fmt"
	"math"
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// Preview visits tasks in the order in which they would start if slots became free one at a time and no task ended
// or arrived. For that it steps a fork on a cluster with unlimited room. It calls visit for each task, with its
// units, until visit returns false. Tasks that a maximum holds back do not appear.
func (s *Scheduler) Preview(visit func(st Start, units float64) bool) {
	(&Outlook{s.forkNow(&Room{})}).Preview(visit)
}

// Outlook is a copy of a scheduler for one preview. It may be used while the scheduler continues, and is cheaper
// than a [Future], because it has no plan of future room.
type Outlook struct{ s *Scheduler }

// AsOutlook turns a copy into an outlook. The copy must not be used in any other way afterwards.
func (s *Scheduler) AsOutlook() *Outlook {
	s.gates.everywhere()
	return &Outlook{s}
}

// Preview is [Scheduler.Preview], once.
func (o *Outlook) Preview(visit func(st Start, units float64) bool) {
	o.oneByOne(func(st Start) bool {
		return visit(st, o.s.site.cluster.Width(o.s.running.run(st.Run).key))
	})
}

// Path is [Scheduler.Path].
func (o *Outlook) Path(id PoolID) string { return o.s.tree.Path(id) }

// PriorityOf is [Scheduler.PriorityOf].
func (o *Outlook) PriorityOf(id PoolID) string { return o.s.PriorityOf(id) }

// oneByOne starts one task after another in the copy, on a cluster with unlimited room.
func (o *Outlook) oneByOne(visit func(st Start) bool) {
	s := o.s
	// A preview does not plan ahead: the old plan has other nodes.
	s.reserve.backfill, s.reserve.hosts, s.reserve.single = backfilling{}, nil, nil
	s.gates.boundless()
	s.site.oneByOne, s.tree.rebalancers = true, nil
	var d Decision
	for {
		s.openStep(s.site.at, &d)
		s.placement.drawAll(1, &d)
		for _, st := range d.Starts { // several of a gang
			if !visit(st) {
				return
			}
		}
		if len(d.Starts) == 0 {
			return
		}
	}
}

// boundless adds nodes with room for all requests of all keys.
func (h *gates) boundless() {
	h.barAway()
	all, asked := cluster.Amounts{}, []bool(nil) // by name, and by number of the resource
	for key := range h.site.cluster.Keys() {
		need := h.site.cluster.Request(cluster.Key(key))
		for len(asked) < len(need) {
			asked = append(asked, false)
		}
		for i, n := range need {
			if n != 0 && !asked[i] {
				asked[i], all[h.site.cluster.Resource(i)] = true, math.MaxInt64/4
			}
		}
	}
	h.firstFit()
	h.reserve.backfill.plan = nil // it lacks these nodes
	if len(all) == 0 {
		return
	}
	// A gang may want a node for each task.
	nodes := int64(1)
	for _, key := range slices.Concat(h.queues.readyKeys.active, h.noRoom.active) {
		if n, spread := h.site.cluster.Gang(key); spread {
			nodes = max(nodes, int64(n))
		}
	}
	for name := range all {
		all[name] /= nodes
	}
	for i := range nodes {
		h.site.cluster.JoinBoundless(fmt.Sprint("+", i), all)
	}
	h.openFits()
	h.holdAway()
}

// everywhere lets a fork start tasks on the nodes of all servers, to find out when a job will start, whichever
// server starts it. While gangs wait it does nothing, because the fork would start gangs across servers, although
// each server starts only gangs that fit on its own nodes.
func (h *gates) everywhere() {
	changed := false
	for _, key := range slices.Concat(h.queues.readyKeys.active, h.noRoom.active) {
		if h.site.gangOf(key) > 0 {
			return
		}
	}
	for i, n := range h.site.cluster.Nodes() {
		if n.State == cluster.Elsewhere {
			h.site.cluster.SetState(cluster.NodeID(i), cluster.Up)
			changed = true
		}
	}
	if changed {
		h.turns.measure()
		h.turns.resized()
		h.reserve.backfill.plan = nil
		h.openFits()
	}
}
