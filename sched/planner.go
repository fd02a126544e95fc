package sched

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// serve makes room for the starving pools, one after another.
func (p *planner) serve(due []hunger) {
	p.gather()
	for _, h := range due {
		for p.planned < maxPlanned && p.one(h) {
			p.planned++
		}
		if p.planned == maxPlanned {
			return
		}
	}
}

// one makes room for one more task of a starving pool, if it should have one.
func (p *planner) one(h hunger) bool {
	if p.world == nil {
		p.makeWorld()
	}
	next, job, ok := p.world.placement.nextIn(h.pool)
	if !ok || !p.within(h, next.key) {
		p.s.reclaimer.tried(h.lacking, false)
		return false
	}
	chosen := p.choose(h.pool, next)
	p.s.reclaimer.tried(h.lacking, chosen == nil)
	if chosen == nil {
		return false
	}
	p.s.reclaimer.again(h.lacking, p.s.site.at)
	reasons := p.reasons(h, chosen)
	for _, id := range chosen {
		p.end(id)
	}
	first, ok := p.startsIn(h.pool)
	if gang := p.s.site.gangOf(next.key) > 0; !ok || gang && first != job { // others go first: a stop would be useless
		p.s.reclaimer.tried(h.lacking, true)
		p.world = nil
		return false
	}
	p.stop(chosen, reasons, first)
	return true
}

// stop stops the chosen tasks for the job that starts first in their room.
func (p *planner) stop(chosen []RunID, reasons []stopReason, first int64) {
	for i := range reasons {
		r := p.s.running.run(chosen[i])
		reasons[i].Next = first
		p.stopped[r.job] = true
		p.leaving.count(p.s, r, +1)
	}
	p.s.departures.stopTogether(chosen, reasons, p.d)
}

// makeWorld copies the scheduler, ends all leaving tasks in the copy, and starts the tasks that can start then.
func (p *planner) makeWorld() {
	p.copyWorld()
	p.startAll(func(Start) {})
}

// copyWorld copies the scheduler and ends all leaving tasks in the copy. The copy stops no tasks by itself.
func (p *planner) copyWorld() {
	p.world = p.s.Fork()
	p.world.tree.rebalancers = nil
	for i, r := range p.s.running.leavingRuns() {
		p.end(r.id(i))
	}
}

// startsIn starts all tasks in the world that can start, and returns the first started job of the pool.
func (p *planner) startsIn(pool int32) (job int64, ok bool) {
	p.startAll(func(st Start) {
		if !ok && p.world.tree.within(int32(st.Pool), pool) {
			job, ok = st.Job, true
		}
	})
	return job, ok
}

// startAll starts all tasks in the world that can start.
func (p *planner) startAll(each func(Start)) {
	var d Decision
	for d.More = true; d.More; {
		p.world.openStep(p.world.site.at, &d)
		p.world.startSome(0, &d)
		for _, st := range d.Starts {
			each(st)
		}
	}
}

// end ends a task in the world; the task waits again there.
func (p *planner) end(id RunID) {
	s := p.world
	r, most := *s.running.run(id), int32(0)
	if r.begun >= 0 {
		most = s.queues.begun[r.begun].own
	}
	s.Finish(id, s.site.at, false)
	s.intake.waitAgain(&r, most)
}

// within reports whether one more task with the key, or one more gang, keeps a starving pool within the goal of
// the rule.
func (p *planner) within(h hunger, key cluster.Key) bool {
	w := p.world
	tasks := w.site.atOnce(key)
	if h.rule == StopShare {
		return w.tree.pools[h.pool].Running+float64(tasks)*w.site.cluster.Width(key) <= h.goal+rounding
	}
	l, request := w.tree.limits(h.pool), w.site.cluster.Request(key)
	for r, least := range l.min {
		if r < len(request) && request[r] > 0 && l.used[r]+tasks*request[r] <= least {
			return true
		}
	}
	return false
}

// reasons explains the stop of each chosen task.
func (p *planner) reasons(h hunger, chosen []RunID) []stopReason {
	all := make([]stopReason, len(chosen))
	for i, id := range chosen {
		from := p.giver(p.s.running.run(id).pool, h.pool)
		all[i] = stopReason{
			Rule: h.rule, For: PoolID(h.pool), Running: h.running, Goal: h.goal, Resource: h.resource, Since: h.since, Owed: h.owed,
			From: PoolID(from), FromRunning: p.world.tree.pools[from].Running, FromGoal: p.entitled[from].Now,
			Choice: choices[p.order] + p.reduced(from),
		}
	}
	return all
}

// reduced says that the entitlement of a pool is smaller because of protected tasks.
func (p *planner) reduced(from int32) string {
	if p.fair == nil || p.fair[from].Now <= p.entitled[from].Now+rounding {
		return ""
	}
	return fmt.Sprintf("; its entitlement would be %s if no task were protected", why.Short(p.fair[from].Now))
}

var choices = [...]string{"the newest that could be spared", "the cheapest that could be spared"}

// gather lists the tasks that could be stopped, best first.
func (p *planner) gather() {
	s := p.s
	gangs := map[int64]int{}
	p.leaving = amounts{}
	for i := range s.running.runs {
		r := &s.running.runs[i]
		if r.used && r.leaving {
			p.leaving.count(s, r, +1)
		}
		if !r.used || p.settings[s.tree.named(r.pool)].Protect || p.gives != nil && !p.gives(r.pool) {
			continue
		}
		if s.site.gangOf(r.key) > 0 {
			if at, known := gangs[r.job]; known {
				p.pieces[at].add(s, i)
				continue
			}
			gangs[r.job] = len(p.pieces)
		}
		p.pieces = append(p.pieces, piece{job: r.job, over: s.tree.pools[r.pool].Running - p.entitled[r.pool].Now})
		p.pieces[len(p.pieces)-1].add(s, i)
	}
	p.pieces = slices.DeleteFunc(p.pieces, func(x piece) bool { return x.fixed })
	slices.SortFunc(p.pieces, func(a, b piece) int { return a.compare(&b, p.order) })
	p.onNode = make([][]int32, len(s.site.cluster.Nodes()))
	for i := range p.pieces {
		for k, id := range p.pieces[i].runs {
			n := s.running.run(id).node
			if k == 0 || !slices.Contains(p.onNode[n], int32(i)) {
				p.onNode[n] = append(p.onNode[n], int32(i))
			}
		}
	}
}

// reclaim looks for starving pools when it is time, and stops tasks for pools whose timeout is over.
func (s *Scheduler) reclaim(d *Decision) {
	r := &s.reclaimer
	if d.More || !r.isTime() {
		return
	}
	settings := s.tree.reclaimSettings()
	entitled := r.partsLeft(settings)
	due := r.starving(settings, entitled)
	if len(due) > 0 {
		p := planner{s: s, settings: settings, entitled: entitled, stopped: map[int64]bool{}, d: d,
			order: s.site.cfg.Reclaim.Choose}
		if s.running.spared(settings) != nil {
			p.fair = s.Read().Entitlements()
		}
		p.serve(due)
	}
	r.lookAgain()
}
