package sched

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// Evidence lists the state from which the order of the next starts follows, as
// [Scheduler.Preview] tells it: the pools in which something waits when there is room
// without bounds, and up to most of their jobs.
func (s *Scheduler) Evidence(most int) *why.Evidence {
	s = s.Fork()
	s.boundless()
	e := &why.Evidence{
		Tau: s.now.Tau, Growth: s.now.Growth, Complete: true,
		Capacity: s.instant.Capacity, Seconds: s.seconds(), MeanLife: s.instant.MeanLife,
	}
	if s.holds {
		s.evidenceOfTotals(e)
	}
	s.evidence(int32(Root), -1, most, e)
	return e
}

func (s *Scheduler) evidence(id, parent int32, most int, e *why.Evidence) {
	p := &s.pools[id]
	if p.Waiting == 0 && id != int32(Root) {
		return
	}
	x := why.PoolEvidence{
		Number: id, Parent: parent, Name: s.labels[id].name, Path: s.Path(PoolID(id)),
		Weight: p.Weight, Settled: p.Settled, Running: p.Running, Rate: p.Rate, Started: p.Started, Flight: p.Flight,
		Own: p.Own, TasksLeft: -1, UnitsLeft: -1, Divides: p.Divides(),
	}
	if parent >= 0 {
		s.evidenceOfPlace(id, &x)
	}
	if l := s.limits(id); l != nil {
		s.evidenceOfLimit(l, p, &x, e)
	}
	if p.inner < 0 {
		x.Mean = s.meanOf(id)
		x.Strict = p.queue >= 0 && s.queues[p.queue].strict
		x.Ranked = p.queue >= 0 && s.queues[p.queue].ranked
		x.Jobs = s.evidenceOfJobs(p, most, e)
		s.evidenceOfRanks(id, x.Jobs)
		e.Pools = append(e.Pools, x)
		return
	}
	in := &s.inners[p.inner]
	s.evidenceOfPolicy(in, &x, e)
	e.Pools = append(e.Pools, x)
	for _, kid := range in.kids {
		s.evidence(kid, id, most, e)
	}
}

// evidenceOfPolicy states how a pool divides.
func (s *Scheduler) evidenceOfPolicy(in *inner, x *why.PoolEvidence, e *why.Evidence) {
	f := in.policy.Formula()
	x.Policy, x.Formula, x.Order, x.Clock = f.Policy, f.Text, f.Order, in.clock
	x.Weights, x.Merges, x.ByDays = in.counted.value(), in.merger != nil, in.daily != nil
	if in.held != nil {
		x.Turns = in.held.clock
	}
	if in.allot == nil {
		return
	}
	if !in.allot.Single() {
		e.Lacks("the policy " + f.Policy + " of " + pathOf(x.Path) + " allots free slots in rounds, not by the key")
	}
	s.retarget(in)
	for _, kid := range in.kids {
		if s.pools[kid].Waiting == 0 {
			x.Loaned += s.pools[kid].over
		}
	}
}

// evidenceOfTotals states what there is of each resource.
func (s *Scheduler) evidenceOfTotals(e *why.Evidence) {
	e.Totals = slices.Clone(s.totals)
	for r := range s.totals {
		e.Resources = append(e.Resources, s.cluster.Resource(r))
	}
}

// requestFor is what a task of the shape asks for, where pools are compared in that.
func (s *Scheduler) requestFor(shape cluster.Shape) []int64 {
	if !s.holds {
		return nil
	}
	return slices.Clone(s.cluster.Request(shape))
}

// evidenceOfPlace states what the policy above reads of a pool besides its account.
func (s *Scheduler) evidenceOfPlace(id int32, x *why.PoolEvidence) {
	p, in := &s.pools[id], s.parentOf(id)
	at := s.setting(in)
	x.Target = p.Target
	if h := in.held; h != nil && int(p.kid) < len(h.turns) {
		x.Holds, x.Turn = slices.Clone(h.row(int(p.kid))), h.turns[p.kid]
	}
	if p.Days != nil {
		x.Days = &why.DaysUsed{}
		x.Days.Past, x.Days.Today, x.Days.Slots, x.Days.Seconds = p.Days.Parts(at.Unix)
	}
	if in.owing == nil {
		return
	}
	for m, d := range at.debts {
		received, ideal, capacity := at.owedIn(p, m)
		x.Owed = append(x.Owed, why.Owed{Received: received, Ideal: ideal, Capacity: capacity, Fixed: d.Still(int(p.kid)), Drift: d.Drift(int(p.kid))})
	}
}

// evidenceOfLimit states the limits in the unit; limits of other resources cannot be
// replayed.
func (s *Scheduler) evidenceOfLimit(l *limit, p *Pool, x *why.PoolEvidence, e *why.Evidence) {
	if l.tasks > 0 {
		x.TasksLeft = max(0, int64(l.tasks-p.Tasks))
	}
	if len(l.max) > 0 && l.max[0] >= 0 {
		x.UnitsLeft = max(0, l.max[0]-l.used[0])
	}
	if len(l.min) > 0 {
		x.MinLeft = l.min[0] - l.used[0]
	}
	if len(l.max) > 1 || len(l.min) > 1 {
		e.Lacks("limits of other resources than the unit decide, too")
	}
}

func (s *Scheduler) evidenceOfJobs(p *Pool, most int, e *why.Evidence) []why.JobEvidence {
	if p.queue < 0 {
		return nil
	}
	q := &s.queues[p.queue]
	var jobs []why.JobEvidence
	for i := range q.lines() {
		l := q.line(i)
		if l.gate != noGate {
			continue
		}
		if s.toll(l.shape) != nil && l.ready() {
			e.Lacks("what starts first uses up licences and rates that others ask for")
			return jobs
		}
		width := int64(s.cluster.Width(l.shape))
		switch {
		case l.fresh.jobs > most-len(jobs):
			e.Lacks("too many jobs wait")
			return jobs
		case s.gangOf(l.shape) > 0 && s.cappedTasks(q.pool):
			e.Lacks("tasks that start all at once may not fit into a maximum when their turn comes")
			return jobs
		case width > 1 && s.capped(q.pool):
			e.Lacks("a task that asks for several units may not fit into a maximum when its turn comes")
			return jobs
		}
		f := l.fresh.clone()
		for f.jobs > 0 {
			x := f.pop()
			jobs = append(jobs, why.JobEvidence{ID: x.id, Line: int32(i), Since: x.since, Waiting: int64(x.tasks), Most: int64(tighter(x.most, q.most)), Width: width, Rate: s.price(l.shape), Gang: int64(s.gangOf(l.shape)), Priority: int(max(0, p.band)), Main: s.mainFor(l.shape), Request: s.requestFor(l.shape)})
		}
		jobs = append(jobs, s.evidenceOfBegun(p, l, width)...)
	}
	slices.SortFunc(jobs, func(a, b why.JobEvidence) int { return cmp.Compare(a.ID, b.ID) })
	return jobs
}

func (s *Scheduler) evidenceOfBegun(p *Pool, l *line, width int64) []why.JobEvidence {
	var jobs []why.JobEvidence
	for _, b := range l.begun {
		x := &s.begun[b]
		jobs = append(jobs, why.JobEvidence{
			ID: x.id, Line: x.at.line, Since: x.since, Waiting: int64(x.waiting), Running: int64(x.running), Most: int64(x.most),
			Width: width, Rate: s.price(l.shape), Gang: int64(x.gang), Priority: int(max(0, p.band)), Main: s.mainFor(l.shape), Request: s.requestFor(l.shape),
		})
	}
	return jobs
}

// mainFor is a shape's main resource where deficits are counted.
func (s *Scheduler) mainFor(shape cluster.Shape) int {
	if !s.owes {
		return 0
	}
	return int(s.mainOf(shape))
}

// cappedTasks reports whether a pool on the way has a maximum of the unit, or of tasks.
func (s *Scheduler) cappedTasks(id int32) bool {
	for at := id; at >= 0; at = s.pools[at].parent {
		if l := s.limits(at); l != nil && (l.tasks > 0 || l.jobRunning > 0) {
			return true
		}
	}
	return s.capped(id)
}

// capped reports whether a pool on the way has a maximum of the unit.
func (s *Scheduler) capped(id int32) bool {
	for ; id >= 0; id = s.pools[id].parent {
		if l := s.limits(id); l != nil && len(l.max) > 0 && l.max[0] >= 0 {
			return true
		}
	}
	return false
}
