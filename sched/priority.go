package sched

import (
	"sort"
	"time"

	"github.com/fairlead/fairlead/why"
)

// Priority is the priority of a job as of now, term by term, and the formula that they
// are to be put into. It reports false where jobs have no priority of their own.
func (s *Scheduler) Priority(j Job) (why.Terms, bool) {
	leaf := int32(s.Leaf(j))
	ranker, at := s.rankerOf(leaf)
	if !at {
		return why.Terms{}, false
	}
	if s.ranks.of[leaf].relative < 0 {
		s.value(leaf)
	}
	r := s.rankedAs(leaf, j.Shape, j.Class, s.sinceThen(&j))
	r.Job = j.ID
	return ranker.Rank(r), true
}

// rankerOf is the policy by which jobs of a leaf have a priority: the leaf's own, or that
// of a pool above.
func (s *Scheduler) rankerOf(leaf int32) (Ranker, bool) {
	if r, yes := s.policyOf(leaf).(Ranker); yes {
		return r, true
	}
	for id := s.pools[leaf].parent; id >= 0; id = s.pools[id].parent {
		if r := s.inners[s.pools[id].inner].ranker; r != nil {
			return r, true
		}
	}
	return nil, false
}

// behindByRank counts the jobs and tasks of a leaf that go before the job by priority.
// The lines are in the order of priority, so that each is searched, not walked.
func (s *Scheduler) behindByRank(leaf int32, j *Job) (jobs int, tasks int64) {
	q := &s.queues[s.pools[leaf].queue]
	mine := s.placeOf(&line{shape: j.Shape, class: j.Class}, s.sinceThen(j), j.ID)
	for i := range q.lines() {
		l := q.line(i)
		n, t := l.fresh.until(func(e *entry) bool { return !s.placeOf(l, e.since, e.id).before(mine) })
		jobs, tasks = jobs+n, tasks+t
		for _, b := range l.begun {
			if x := &s.begun[b]; s.placeOf(l, x.since, x.id).before(mine) {
				jobs, tasks = jobs+1, tasks+int64(x.waiting)
			}
		}
	}
	return jobs, tasks
}

// placeOf is where a job of a line goes among those of its leaf.
func (s *Scheduler) placeOf(l *line, since time.Duration, id int64) place {
	age := min(s.ranks.now-s.ranks.at(since), s.ranks.full)
	return place{-(s.merit(l.shape, l.class).sum + age), float64(id)}
}

// until counts the jobs and tasks that stand before the first entry for which over holds;
// it has to hold for all behind that, too.
func (f *fifo) until(over func(*entry) bool) (jobs int, tasks int64) {
	for ci := range f.chunks() {
		e := f.chunk(ci).entries[f.start(ci):]
		n := sort.Search(len(e), func(i int) bool { return over(&e[i]) })
		jobs += n
		for i := range e[:n] {
			tasks += int64(e[i].tasks)
		}
		if n < len(e) {
			break
		}
	}
	return jobs, tasks
}

// evidenceOfRanks adds the terms of the jobs' priorities, where they have any.
func (s *Scheduler) evidenceOfRanks(leaf int32, jobs []why.JobEvidence) {
	ranker, ranks := s.rankerOf(leaf)
	if !ranks || len(jobs) == 0 {
		return
	}
	q := &s.queues[s.pools[leaf].queue]
	for i := range jobs {
		l := q.line(int(jobs[i].Line))
		r := s.rankedAs(leaf, l.shape, l.class, jobs[i].Since)
		t := ranker.Rank(r)
		for _, v := range t.Values[:len(t.Formula.Terms)] {
			jobs[i].Terms = append(jobs[i].Terms, why.Number(v))
		}
	}
}

// Ranks reports whether jobs have a priority of their own somewhere.
func (s *Scheduler) Ranks() bool { return s.ranks != nil }
