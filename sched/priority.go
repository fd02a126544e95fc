package sched

import (
	"cmp"
	"fmt"
	"slices"
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
	mine := s.placeOf(&line{ask: askOf(j)}, s.sinceThen(j), j.ID)
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

// JobLevel compares the jobs of a leaf that goes by their priority: up to most of those
// before the job, and the job. It reports false where none of them goes before it, as the
// levels above then tell all.
func (s *Scheduler) JobLevel(j Job, most int) (why.Level, bool) {
	leaf := int32(s.Leaf(j))
	n := s.pools[leaf].queue
	if n < 0 || !s.queues[n].ranked {
		return why.Level{}, false
	}
	before, _ := s.behindByRank(leaf, &j)
	if before == 0 {
		return why.Level{}, false
	}
	ranker, _ := s.rankerOf(leaf)
	l := s.jobLevel(ranker, s.Path(PoolID(leaf)), j.ID)
	l.Before = before
	all := s.aheadByRank(leaf, &j, most)
	l.Left = before - len(all)
	for i := range all {
		l.Children = append(l.Children, s.describeJob(ranker, leaf, &all[i]))
	}
	l.Children = append(l.Children, s.describeJob(ranker, leaf, &j))
	return l, true
}

// JobPair compares two jobs by their priority, in order. It reports false where they are
// not compared so.
func (s *Scheduler) JobPair(a, b Job) (why.Level, bool) {
	x, y := int32(s.Leaf(a)), int32(s.Leaf(b))
	ranker, yes := s.rankerOf(x)
	_, also := s.rankerOf(y)
	if !yes || !also || x != y && s.compared(x) != s.compared(y) {
		return why.Level{}, false
	}
	where := s.Path(PoolID(x))
	if x != y {
		where = s.Path(PoolID(s.compared(x)))
	}
	l := s.jobLevel(ranker, where, a.ID)
	first, second := s.describeJob(ranker, x, &a), s.describeJob(ranker, y, &b)
	if second.Key < first.Key || second.Key == first.Key && second.Tie < first.Tie {
		first, second, l.Before = second, first, 1
	}
	l.Children = []why.Child{first, second}
	return l, true
}

func (s *Scheduler) jobLevel(ranker Ranker, pool string, job int64) why.Level {
	f := ranker.Formula()
	return why.Level{Pool: pool, Policy: f.Policy, Formula: f.Text, Order: f.Order, Terms: f.Terms, You: jobName(job), Jobs: true}
}

func jobName(id int64) string { return fmt.Sprint("job ", id) }

func (s *Scheduler) describeJob(ranker Ranker, leaf int32, j *Job) why.Child {
	r := s.rankedAs(leaf, j.Shape, j.Class, s.sinceThen(j))
	r.Job = j.ID
	t := ranker.Rank(r)
	d := why.Child{Name: jobName(j.ID), Terms: map[string]why.Number{}, Key: why.Number(t.Key), Tie: why.Number(t.Tie), Open: true, Waiting: int64(j.Tasks)}
	for i, term := range t.Formula.Terms {
		d.Terms[term.Name] = why.Number(t.Values[i])
	}
	return d
}

// aheadByRank are the first jobs of a leaf, up to most of those before the job; 0 is a
// hundred, as a leaf may hold millions.
func (s *Scheduler) aheadByRank(leaf int32, j *Job, most int) []Job {
	if most == 0 {
		most = 100
	}
	q := &s.queues[s.pools[leaf].queue]
	mine := s.placeOf(&line{ask: askOf(j)}, s.sinceThen(j), j.ID)
	type ahead struct {
		Job
		place
	}
	var all []ahead
	take := func(l *line, x Job) {
		if p := s.placeOf(l, x.since, x.ID); p.before(mine) {
			x.Shape, x.Class = l.shape, l.class
			all = append(all, ahead{x, p})
		}
	}
	for i := range q.lines() {
		l := q.line(i)
		f := l.fresh.clone()
		for range min(most, f.jobs) {
			e := f.pop()
			take(l, Job{ID: e.id, Tasks: int(e.tasks), since: e.since})
		}
		for _, b := range l.begun {
			take(l, Job{ID: s.begun[b].id, Tasks: int(s.begun[b].waiting), since: s.begun[b].since})
		}
	}
	slices.SortFunc(all, func(a, b ahead) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.job, b.job))
	})
	var jobs []Job
	for _, x := range all[:min(most, len(all))] {
		jobs = append(jobs, x.Job)
	}
	return jobs
}
