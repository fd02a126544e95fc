package sched

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// departures removes tasks from their nodes, and knows the tasks that have to end.
type departures struct {
	site      *site
	tree      *tree
	orders    *orders
	queues    *queues
	running   *running
	turns     *turns
	overrides *overrides
	quotas    *quotas
	reserve   *reserve
	gates     *gates

	stops    stopping
	heldDown map[int64]holdDown // by job
}

// stopping holds the tasks that must end early.
type stopping struct {
	safe  map[int64]time.Time // by job: not stopped before this instant
	sweep int                 // size of safe at which old entries are dropped
	grace time.Duration       // how long a job is safe after a stop
	// together holds the groups of tasks that make room jointly, see stopTogether.
	together map[int32]*together
	serial   int32 // of the last group
	left     bool  // another scheduler stops tasks, see LeaveStops
}

func (st *stopping) fork() {
	st.safe = maps.Clone(st.safe)
	all := st.together
	st.together = make(map[int32]*together, len(all))
	for k, g := range all {
		st.together[k] = &together{g.left, slices.Clone(g.held)}
	}
}

// together is a group of tasks whose room is given back when the last of them has ended. Otherwise narrow tasks
// that go later would take the room of a wide task bit by bit.
type together struct {
	left int
	held []heldRoom
}

type heldRoom struct {
	node  cluster.NodeID
	key   cluster.Key
	until int64 // planned end
}

// holdDown holds the room of tasks of a gang that just ended. In the plan they still run.
type holdDown struct {
	held  []heldRoom
	until time.Time
}

// end removes a task from its node and its pools; it calls settle for each pool.
func (e *departures) end(id RunID, settle func(p *Pool, width float64)) {
	r := e.running.run(id)
	width, leaf := e.site.cluster.Width(r.key), r.pool
	e.giveBack(r)
	e.running.count(r, -1)
	if p := &e.reserve.backfill.patience; len(p.of) > 0 {
		p.ended(r)
	}
	t := e.quotas.needsOf(r.key)
	if t != nil {
		e.quotas.hold(t, -1)
	}
	if r.queued {
		e.tree.countQueued(r, -1)
	}
	e.overrides.charge(leaf)
	for at := leaf; at >= 0; at = e.tree.pools[at].parent {
		p := &e.tree.pools[at]
		settle(p, width)
		p.Tasks--
		if d := e.tree.daysOf(p); d != nil {
			d.Run(-r.rate(), e.site.instant.Unix)
		}
		e.tree.changed(at)
		if l := e.tree.limits(at); l != nil {
			l.add(e.site.cluster.Request(r.key), -1)
		}
	}
	e.tree.expect(leaf, -1, -r.price)
	e.turns.expectAgain(leaf)
	e.overrides.forecastEnds(leaf)
	e.orders.need(leaf, leaf, r.key, -1, 0)
	e.orders.holdTask(leaf, r.key, -1)
	if r.begun >= 0 {
		b := r.begun
		e.queues.change(e.queues.begun[b].at, func(*subQueue) {
			e.queues.begun[b].ends(since(e.site.at))
			e.queues.reheap(b)
		})
		e.turns.settle(e.queues.all[e.queues.begun[b].at.queue].pool)
		e.queues.release(b)
	}
	e.turns.useAgain(leaf)
	e.turns.settle(leaf)
	r.used = false
	e.running.runFree = append(e.running.runFree, int32(uint32(id)))
	e.gates.ended(leaf, r.key)
	e.gates.openFits()
}

// stopTogether stops running tasks whose room is needed as a whole. They are not chosen again while they run, and
// their jobs are safe for the grace period.
func (e *departures) stopTogether(ids []RunID, why []stopReason, d *Decision) {
	group := int32(0)
	if len(ids) > 1 {
		e.stops.serial++
		group = e.stops.serial
		if e.stops.together == nil {
			e.stops.together = map[int32]*together{}
		}
		e.stops.together[group] = &together{left: len(ids)}
	}
	safe := e.site.at.Add(e.stops.grace)
	for i, id := range ids {
		r := e.running.run(id)
		r.leaving, r.group = true, group
		width, elapsed := e.site.cluster.Width(r.key), e.site.at.Sub(e.site.startOf(r))
		d.Stops = append(d.Stops, Stop{
			Run: id, Job: r.job, Pool: PoolID(r.pool), Node: r.node, stopReason: why[i],
			Together: len(ids), Width: width, Elapsed: elapsed, Lost: width * elapsed.Seconds(), Safe: safe,
		})
		e.protect(r.job, safe)
	}
}

// stoppable reports whether a task may be stopped now: it started before this step, its node takes tasks, it is not
// leaving already, and its job is not safe.
func (e *departures) stoppable(r *run) bool {
	return r.used && !r.leaving && r.started.Before(e.site.at) && e.site.cluster.Nodes()[r.node].State.Counts() &&
		!e.stops.safe[r.job].After(e.site.at)
}

// protect keeps the tasks of a job from being stopped before an instant.
func (e *departures) protect(job int64, until time.Time) {
	if !until.After(e.site.at) {
		return
	}
	if e.stops.safe == nil {
		e.stops.safe = map[int64]time.Time{}
	}
	if len(e.stops.safe) >= e.stops.sweep {
		maps.DeleteFunc(e.stops.safe, func(_ int64, until time.Time) bool { return !until.After(e.site.at) })
		e.stops.sweep = 2*len(e.stops.safe) + 64
	}
	if until.After(e.stops.safe[job]) {
		e.stops.safe[job] = until
	}
}

// giveBack frees the room of a task that ended, or holds it for the tasks that end together with it.
func (e *departures) giveBack(r *run) {
	switch {
	case r.group != 0:
		e.giveTogether(r.group, &heldRoom{r.node, r.key, r.until})
	case e.queues.holdsDown(r):
		e.holdDown(r)
		return
	default:
		e.site.cluster.Give(r.node, r.key)
		e.giveHeld(r.job)
	}
	e.site.events++
	e.reserve.planEnd(r.node, r.key, r.until)
}

// giveTogether removes a task from its group, and adds the room that it leaves, if any, to the room of the group.
func (e *departures) giveTogether(group int32, room *heldRoom) {
	g := e.stops.together[group]
	if g == nil {
		return
	}
	if room != nil {
		g.held = append(g.held, *room)
	}
	if g.left--; g.left > 0 {
		return
	}
	for _, h := range g.held {
		e.site.cluster.Give(h.node, h.key)
	}
	delete(e.stops.together, group)
}

// The tasks of a gang end at nearly the same time. If their room were given back piece by piece, a narrow task
// could take the first part, and the rest would be too little for a waiting gang. So the room of the first task is
// held until the last has ended. It is not held for long, because in some gangs one task runs longer than the
// others. (Slurm's CompleteWait serves the same purpose.)

// maxHoldDown is how long the room of a task is held for the other tasks of its gang.
const maxHoldDown = time.Second

// holdsDown reports whether the room of an ending task is held, because other tasks of its gang run.
func (w *queues) holdsDown(r *run) bool {
	return w.site.gangOf(r.key) > 0 && w.begun[r.begun].running > 1
}

// holdDown holds the room of a task.
func (e *departures) holdDown(r *run) {
	if e.heldDown == nil {
		e.heldDown = map[int64]holdDown{}
	}
	x := e.heldDown[r.job]
	if len(x.held) == 0 {
		x.until = e.site.at.Add(maxHoldDown)
	}
	x.held = append(slices.Clip(x.held), heldRoom{r.node, r.key, r.until})
	e.heldDown[r.job] = x
}

// giveHeld gives back the held room of a gang.
func (e *departures) giveHeld(job int64) {
	for _, room := range e.heldDown[job].held {
		e.site.cluster.Give(room.node, room.key)
		e.reserve.planEnd(room.node, room.key, room.until)
	}
	delete(e.heldDown, job)
}

// endHoldDowns gives back the room that has been held long enough.
func (e *departures) endHoldDowns() {
	if len(e.heldDown) == 0 {
		return
	}
	before := len(e.heldDown)
	for _, job := range slices.Sorted(maps.Keys(e.heldDown)) {
		if !e.heldDown[job].until.After(e.site.at) {
			e.giveHeld(job)
		}
	}
	if len(e.heldDown) < before {
		e.site.events++
		e.gates.openFits()
	}
}

// nextHoldDown is the end of the next hold-down; zero if there is none.
func (e *departures) nextHoldDown() (next time.Time) {
	if len(e.heldDown) == 0 { // even ranging over an empty map costs time
		return next
	}
	for _, x := range e.heldDown {
		next = earlier(next, x.until)
	}
	return next
}
