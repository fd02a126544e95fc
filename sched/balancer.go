package sched

import (
	"math"
	"time"
)

// balancer chooses the tasks that a rebalancing stops, with the planner of [Reclaim]. For one task after another,
// it makes room if the core would start the task in that room. It stops no task whose room could not be used. A
// child gives no more than its allotter says, and it and the pools below it keep their minima.
type balancer struct {
	planner
	in     *inner
	plan   plan    // number of slots that each child starts
	starts []int32 // the children of the tasks started in the world, in order
	choice string
}

// newBalancer plans the starts and stops of the children of a pool.
func newBalancer(s *Scheduler, in *inner, classes []Claimant, d *Decision) *balancer {
	starts, stops := in.as.allot.Rebalance(roomFor(s, in), classes)
	b := &balancer{in: in, plan: s.choice.planOf(in, starts)}
	b.plan.pinned = true
	b.planner = planner{
		s: s, d: d, settings: s.tree.reclaimSettings(), entitled: make([]Entitlement, len(s.tree.pools)),
		stopped: map[int64]bool{}, order: Newest,
		gives: func(pool int32) bool {
			kid := s.tree.childAbove(in.id, pool)
			return kid >= 0 && stops[s.tree.pools[kid].seat.kid] > 0
		},
	}
	for i, kid := range in.kids { // a child keeps all but its stops
		b.entitled[kid].Now = float64(classes[i].Running - stops[i])
	}
	return b
}

// roomFor is the room for starts in the children of a pool once all leaving tasks have ended. A pool at its maximum
// has only the room that its own tasks leave.
func roomFor(s *Scheduler, in *inner) (room int64) {
	if !s.tree.pathFull(in.id) {
		return s.site.room() + s.running.leavingUnits()
	}
	for _, r := range s.running.leavingRuns() {
		if s.tree.within(r.pool, in.id) {
			room += int64(s.site.cluster.Width(r.key))
		}
	}
	return room
}

// serve makes room for the starting children, in the order of the plan, and gives the room to them.
func (b *balancer) serve() {
	if len(b.plan.order) == 0 {
		return
	}
	b.gather()
	if len(b.pieces) == 0 {
		return
	}
	b.begin()
	for _, kid := range b.plan.order {
		for b.planned < maxPlanned && b.one(kid) {
			b.planned++
		}
	}
	if b.planned > 0 { // list the tasks: with slots per child, a child might use a narrow task's slots for a wide one
		b.in.allotting.plan = plan{serial: b.s.site.events, pinned: true, turns: b.starts}
	}
}

// begin creates the world, a copy of the scheduler in which the plan applies.
func (b *balancer) begin() {
	b.starts = nil
	b.copyWorld()
	b.world.tree.inners[b.s.tree.pools[b.in.id].inner].allotting.plan = b.plan.clone()
	b.start(int32(Root))
}

// start starts all tasks in the world that can start, and returns the first started job of the given pool. The
// world may have pools that the scheduler lacks: priority classes of a leaf pool in which a stopped task waits
// again.
func (b *balancer) start(pool int32) (job int64, ok bool) {
	w := b.world
	b.startAll(func(st Start) {
		if kid := w.tree.childAbove(b.in.id, int32(st.Pool)); kid >= 0 && int(kid) < len(b.s.tree.pools) {
			b.starts = append(b.starts, kid)
		}
		if !ok && w.tree.within(int32(st.Pool), pool) {
			job, ok = st.Job, true
		}
	})
	return job, ok
}

// one makes room for one more task of a child, if the plan has slots for it.
func (b *balancer) one(kid int32) bool {
	next, job, ok := b.world.placement.nextIn(kid)
	left := b.world.tree.inners[b.s.tree.pools[b.in.id].inner].allotting.plan.left
	if i := int(b.s.tree.pools[kid].seat.kid); !ok || i >= len(left) ||
		float64(b.world.site.atOnce(next.key))*b.world.site.cluster.Width(next.key) > float64(left[i]) {
		return false
	}
	chosen := b.choose(kid, next)
	if chosen == nil {
		return false
	}
	reasons := b.reasons(kid, chosen)
	for _, id := range chosen {
		b.end(id)
	}
	first, ok := b.start(kid)
	if gang := b.s.site.gangOf(next.key) > 0; !ok || gang && first != job { // others go first
		b.begin()
		return false
	}
	b.stop(chosen, reasons, first)
	return true
}

// reasons explains the stop of each chosen task.
func (b *balancer) reasons(kid int32, chosen []RunID) []stopReason {
	all, p := make([]stopReason, len(chosen)), &b.s.tree.pools[kid]
	since := b.in.allotting.over
	for i, id := range chosen {
		from := b.s.tree.childAbove(b.in.id, b.s.running.run(id).pool)
		all[i] = stopReason{
			Rule: StopRebalance, For: PoolID(kid), Running: p.Running, Goal: p.Target, Since: since,
			Owed: math.Max(0, p.Target-p.Running) * b.s.site.at.Sub(since).Seconds(),
			From: PoolID(from), FromRunning: b.s.tree.pools[from].Running, FromGoal: b.s.tree.pools[from].Target,
			Choice: b.choice,
		}
	}
	return all
}

// rebalance stops tasks of children above their targets, in pools whose allotter has found its children too far
// apart for too long, and plans the starts that replace them.
func (s *Scheduler) rebalance(d *Decision) {
	s.rebalancer.next = time.Time{}
	for _, id := range s.tree.rebalancers {
		in := &s.tree.inners[s.tree.pools[id].inner]
		if classes, spread, due := s.rebalancer.look(in); due {
			b := newBalancer(s, in, classes, d)
			b.choice = s.rebalancer.reason(in, spread)
			b.serve()
			s.rebalancer.served(in, b.planned)
		}
	}
}
