package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
)

// planner chooses what is stopped in one look. It plans on a copy of the scheduler, in
// which all that was told to end has ended: what the copy starts next is what the room
// will be used for.
type planner struct {
	s        *Scheduler
	world    *Scheduler // nil: to be made
	d        *Decision
	settings []share.Reclaim
	entitled []Entitlement
	stopped  map[int64]bool // jobs of which something was stopped in this look
	leaving  amounts        // what was told to end
	pieces   []piece        // what could be stopped, the best first
	onNode   [][]int32      // of these, by node
	planned  int
	gang     gangRoom
}

// plannedMost bounds the tasks that room is made for in one look. The rest follows in
// the next ones.
const plannedMost = 1000

// serve makes room for the starving pools, one after the other.
func (p *planner) serve(due []hunger) {
	p.gather()
	for _, h := range due {
		for p.planned < plannedMost && p.one(h) {
			p.planned++
		}
		if p.planned == plannedMost {
			return
		}
	}
}

// one makes room for one more task of a starving pool, if it should have one.
func (p *planner) one(h hunger) bool {
	if p.world == nil {
		p.makeWorld()
	}
	next, job, ok := p.world.nextIn(h.pool)
	if !ok || !p.within(h, next.shape) {
		return false
	}
	chosen := p.choose(h.pool, next)
	if chosen == nil {
		return false
	}
	p.s.reclaimer.again(h.lacking, p.s.at)
	reasons := p.reasons(h, chosen)
	var f Decision
	for _, id := range chosen {
		p.world.endAndWait(id)
	}
	first, ok := p.world.startsIn(h.pool, &f)
	if gang := p.s.gangOf(next.shape) > 0; !ok || gang && first != job { // others go first: it would be for nothing
		p.world = nil
		return false
	}
	for i := range reasons {
		r := p.s.run(chosen[i])
		reasons[i].Next = first
		p.stopped[r.job] = true
		p.leaving.count(p.s, r, +1)
	}
	p.s.stopTogether(chosen, reasons, p.d)
	return true
}

// makeWorld copies the scheduler and lets all end in the copy that was told to.
func (p *planner) makeWorld() {
	p.world = p.s.Fork()
	for i, r := range p.s.leavingRuns() {
		p.world.endAndWait(r.id(i))
	}
	p.world.startAll(func(Start) {})
}

// startsIn starts all that can start, and returns the first job of a pool that did.
func (s *Scheduler) startsIn(pool int32, d *Decision) (job int64, ok bool) {
	s.startAll(func(st Start) {
		if !ok && s.within(int32(st.Pool), pool) {
			job, ok = st.Job, true
		}
	})
	return job, ok
}

func (s *Scheduler) startAll(each func(Start)) {
	var d Decision
	for d.More = true; d.More; {
		s.Step(s.at, 0, &d)
		for _, st := range d.Starts {
			each(st)
		}
	}
}

// within reports whether a pool is another, or below it.
func (s *Scheduler) within(id, above int32) bool {
	for ; id >= 0; id = s.pools[id].parent {
		if id == above {
			return true
		}
	}
	return false
}

// endAndWait ends a task, which waits again if it was stopped to make room.
func (s *Scheduler) endAndWait(id RunID) {
	r, most := *s.run(id), int32(0)
	if r.begun >= 0 {
		most = s.begun[r.begun].own
	}
	s.Finish(id, s.at, false)
	s.waitAgain(&r, most)
}

// nextIn is what the task asks for that a pool would start next if there were room, and its job.
func (s *Scheduler) nextIn(id int32) (ask, int64, bool) {
	waiting := s.noRoom.all()
	s.unpark(&waiting)
	for s.pools[id].in {
		leaf := id
		for s.pools[leaf].inner >= 0 {
			leaf = s.chooseIn(&s.inners[s.pools[leaf].inner])
		}
		at, h := s.next(leaf)
		shape := s.line(at).shape
		lim := s.overMax(leaf, shape)
		switch {
		case lim != nil:
			lim.parked = append(lim.parked, at)
			s.park(leaf, at, byMax)
		case !s.openSomewhere(s.line(at).ask):
			s.noRoom.add(shape, at)
			s.park(leaf, at, byFit)
		case s.untilOpen(leaf, at):
			return s.line(at).ask, h.id, true
		}
	}
	return ask{}, 0, false
}

// chooseIn is the child that goes first. Policies that allot what is free allot nothing
// while nothing is: then it is the oldest that is open.
func (s *Scheduler) chooseIn(in *inner) int32 {
	var l Level
	if id := s.chooseChild(in, &l); id >= 0 {
		return id
	}
	return in.kids[slices.IndexFunc(in.kids, func(kid int32) bool { return s.pools[kid].in })]
}

// overMax is the limit of a pool on the way that a task of the shape, or a gang, would exceed.
func (s *Scheduler) overMax(id int32, shape cluster.Shape) *limit {
	for ; id >= 0; id = s.pools[id].parent {
		if l := s.limits(id); l != nil && !s.admits(l, id, shape) {
			return l
		}
	}
	return nil
}

// within reports whether a starving pool stays within what the rule gives it with one
// more task of the shape, or gang.
func (p *planner) within(h hunger, shape cluster.Shape) bool {
	w := p.world
	tasks := w.atOnce(shape)
	if h.rule == StopShare {
		return w.pools[h.pool].Running+float64(tasks)*w.cluster.Width(shape) <= h.goal+rounding
	}
	l, request := w.limits(h.pool), w.cluster.Request(shape)
	for r, least := range l.min {
		if r < len(request) && request[r] > 0 && l.used[r]+tasks*request[r] <= least {
			return true
		}
	}
	return false
}

// reasons says why each of the chosen tasks is stopped.
func (p *planner) reasons(h hunger, chosen []RunID) []StopReason {
	all := make([]StopReason, len(chosen))
	for i, id := range chosen {
		from := p.giver(p.s.run(id).pool, h.pool)
		all[i] = StopReason{
			Rule: h.rule, For: PoolID(h.pool), Running: h.running, Goal: h.goal, Resource: h.resource, Since: h.since, Owed: h.owed,
			From: PoolID(from), FromRunning: p.world.pools[from].Running, FromGoal: p.entitled[from].Now,
			Choice: choices[p.s.cfg.Reclaim.Choose],
		}
	}
	return all
}

var choices = [...]string{"the newest that could be spared", "the cheapest that could be spared"}

// giver is the pool that gives room of a leaf to a starving pool: the one of those above
// the leaf that stands below the first pool that holds both.
func (p *planner) giver(leaf, starving int32) int32 {
	at := leaf
	for !p.s.within(starving, p.s.pools[at].parent) {
		at = p.s.pools[at].parent
	}
	return at
}

// gather lists what could be stopped, the best first.
func (p *planner) gather() {
	s := p.s
	gangs := map[int64]int{}
	p.leaving = amounts{}
	for i := range s.runs {
		r := &s.runs[i]
		if r.used && r.leaving {
			p.leaving.count(s, r, +1)
		}
		if !r.used || p.settings[s.named(r.pool)].Protect {
			continue
		}
		if s.gangOf(r.shape) > 0 {
			if at, known := gangs[r.job]; known {
				p.pieces[at].add(s, i)
				continue
			}
			gangs[r.job] = len(p.pieces)
		}
		p.pieces = append(p.pieces, piece{job: r.job, over: s.pools[r.pool].Running - p.entitled[r.pool].Now})
		p.pieces[len(p.pieces)-1].add(s, i)
	}
	p.pieces = slices.DeleteFunc(p.pieces, func(x piece) bool { return x.fixed })
	slices.SortFunc(p.pieces, func(a, b piece) int { return a.compare(&b, s.cfg.Reclaim.Choose) })
	p.onNode = make([][]int32, len(s.cluster.Nodes()))
	for i := range p.pieces {
		for k, id := range p.pieces[i].runs {
			n := s.run(id).node
			if k == 0 || !slices.Contains(p.onNode[n], int32(i)) {
				p.onNode[n] = append(p.onNode[n], int32(i))
			}
		}
	}
}

// named is the pool of the tree that a leaf belongs to: itself, or for a band the pool
// whose priorities it holds.
func (s *Scheduler) named(id int32) int32 {
	for s.labels[id].kind == band {
		id = s.pools[id].parent
	}
	return id
}
