package sched

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/why"
)

// Evidence lists the state from which the order of the next starts follows, as
// [Scheduler.Preview] tells it: the pools in which something waits when there is room
// without bounds, and up to most of their jobs.
func (s *Scheduler) Evidence(most int) *why.Evidence {
	s = s.Fork()
	s.boundless()
	e := &why.Evidence{Tau: s.now.Tau, Growth: s.now.Growth, Complete: true}
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
		Weight: p.Weight, Settled: p.Settled, Running: p.Running, Started: p.Started, Flight: p.Flight,
		Own: p.Own, TasksLeft: -1, UnitsLeft: -1,
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
	x.Policy, x.Formula, x.Clock = in.policy.Formula().Policy, in.policy.Formula().Text, in.clock
	e.Pools = append(e.Pools, x)
	for _, kid := range in.kids {
		s.evidence(kid, id, most, e)
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
		e.Complete = false
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
			e.Complete = false // what starts first uses licences and rates up
			return jobs
		}
		width := int64(s.cluster.Width(l.shape))
		if l.fresh.jobs > most-len(jobs) || width > 1 && s.capped(q.pool) {
			e.Complete = false // too many, or a maximum that a wide task may not fit into
			return jobs
		}
		f := l.fresh.clone()
		for f.jobs > 0 {
			x := f.pop()
			jobs = append(jobs, why.JobEvidence{ID: x.id, Line: int32(i), Since: x.since, Waiting: int64(x.tasks), Most: int64(tighter(x.most, q.most)), Width: width, Priority: int(max(0, p.band))})
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
			Width: width, Priority: int(max(0, p.band)),
		})
	}
	return jobs
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
