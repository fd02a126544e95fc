package sched

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/fairlead/fairlead/why"
)

// Priority returns the priority of a job as of now, term by term, with its formula. It returns false if jobs have
// no priorities of their own.
func (v Explainer) Priority(j Job) (why.Terms, bool) {
	leaf := int32(v.s.growth.Leaf(j))
	ranker, at := v.rankerOf(leaf)
	if !at {
		return why.Terms{}, false
	}
	if v.s.precedence.ranks.of[leaf].relative < 0 {
		v.s.precedence.value(leaf)
	}
	r := v.s.precedence.rankedAs(leaf, j.Key, j.Class, v.s.site.sinceThen(&j))
	r.Job = j.ID
	return ranker.Rank(r), true
}

// rankerOf returns the policy that defines the priorities of the jobs of a leaf pool: its own, or that of a pool
// above.
func (v Explainer) rankerOf(leaf int32) (Ranker, bool) {
	if r, yes := v.s.tree.policyOf(leaf).(Ranker); yes {
		return r, true
	}
	for id := v.s.tree.pools[leaf].parent; id >= 0; id = v.s.tree.pools[id].parent {
		if r := v.s.tree.inners[v.s.tree.pools[id].inner].as.ranker; r != nil {
			return r, true
		}
	}
	return nil, false
}

// behindByRank counts the jobs and tasks of a leaf pool that go before the job by priority. Each sub-queue is in order
// of priority, so it uses binary search.
func (v Explainer) behindByRank(leaf int32, j *Job) (jobs int, tasks int64) {
	q := &v.s.queues.all[v.s.tree.pools[leaf].queue]
	mine := v.s.precedence.placeOf(&subQueue{ask: askOf(j)}, v.s.site.sinceThen(j), j.ID)
	for i := range q.subs() {
		sub := q.sub(i)
		n, t := sub.fresh.until(func(e *entry) bool { return !v.s.precedence.placeOf(sub, e.since, e.id).before(mine) })
		jobs, tasks = jobs+n, tasks+t
		for _, b := range sub.begun {
			if x := &v.s.queues.begun[b]; v.s.precedence.placeOf(sub, x.since, x.id).before(mine) {
				jobs, tasks = jobs+1, tasks+int64(x.waiting)
			}
		}
	}
	return jobs, tasks
}

// until counts the jobs and tasks before the first entry for which the function "over" returns true. It must return
// true for all later entries, too.
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

// evidenceOfRanks adds the terms of the jobs' priorities, if they have any.
func (v Explainer) evidenceOfRanks(leaf int32, jobs []why.JobEvidence) {
	ranker, ranks := v.rankerOf(leaf)
	if !ranks || len(jobs) == 0 {
		return
	}
	q := &v.s.queues.all[v.s.tree.pools[leaf].queue]
	for i := range jobs {
		sub := q.sub(int(jobs[i].SubQueue))
		r := v.s.precedence.rankedAs(leaf, sub.key, sub.class, jobs[i].Since)
		t := ranker.Rank(r)
		for _, x := range t.Values[:len(t.Formula.Terms)] {
			jobs[i].Terms = append(jobs[i].Terms, why.Number(x))
		}
	}
}

// JobLevel compares the job with the jobs of its leaf pool that go before it by priority, at most "most" of them. It
// returns false if there are none; then the levels above explain the order.
func (v Explainer) JobLevel(j Job, most int) (why.Level, bool) {
	leaf := int32(v.s.growth.Leaf(j))
	n := v.s.tree.pools[leaf].queue
	if n < 0 || !v.s.queues.all[n].ranked {
		return why.Level{}, false
	}
	before, _ := v.behindByRank(leaf, &j)
	if before == 0 {
		return why.Level{}, false
	}
	ranker, _ := v.rankerOf(leaf)
	l := v.jobLevel(ranker, v.s.tree.Path(PoolID(leaf)), j.ID)
	l.Before = before
	all := v.aheadByRank(leaf, &j, most)
	l.Left = before - len(all)
	for i := range all {
		l.Children = append(l.Children, v.describeJob(ranker, leaf, &all[i]))
	}
	l.Children = append(l.Children, v.describeJob(ranker, leaf, &j))
	return l, true
}

// JobPair compares two jobs by their priorities, in order. It returns false if priorities do not compare them.
func (v Explainer) JobPair(a, b Job) (why.Level, bool) {
	x, y := int32(v.s.growth.Leaf(a)), int32(v.s.growth.Leaf(b))
	ranker, yes := v.rankerOf(x)
	_, also := v.rankerOf(y)
	if !yes || !also || x != y && v.s.tree.compared(x) != v.s.tree.compared(y) {
		return why.Level{}, false
	}
	where := v.s.tree.Path(PoolID(x))
	if x != y {
		where = v.s.tree.Path(PoolID(v.s.tree.compared(x)))
	}
	l := v.jobLevel(ranker, where, a.ID)
	first, second := v.describeJob(ranker, x, &a), v.describeJob(ranker, y, &b)
	if second.Key > first.Key || second.Key == first.Key && second.Tie < first.Tie { // largest first
		first, second, l.Before = second, first, 1
	}
	l.Children = []why.Child{first, second}
	return l, true
}

func (v Explainer) jobLevel(ranker Ranker, pool string, job int64) why.Level {
	f := ranker.Formula()
	return why.Level{Pool: pool, Policy: f.Policy, Formula: f.Text, Order: f.Order, Terms: f.Terms, Tied: f.Tied, You: jobName(job), Jobs: true}
}

func jobName(id int64) string { return fmt.Sprint("job ", id) }

func (v Explainer) describeJob(ranker Ranker, leaf int32, j *Job) why.Child {
	r := v.s.precedence.rankedAs(leaf, j.Key, j.Class, v.s.site.sinceThen(j))
	r.Job = j.ID
	t := ranker.Rank(r)
	d := why.Child{Name: jobName(j.ID), Terms: map[string]why.Number{}, Key: why.Number(t.Formula.Result(t.Key)),
		Tie: why.Number(t.Tie), Open: true, Waiting: int64(j.Tasks)}
	for i, term := range t.Formula.Terms {
		d.Terms[term.Name] = why.Number(t.Values[i])
	}
	return d
}

// aheadByRank returns the first jobs of a leaf pool before the job, at most "most" of them; 0 means 100, because a leaf
// pool may hold millions of jobs.
func (v Explainer) aheadByRank(leaf int32, j *Job, most int) []Job {
	if most == 0 {
		most = 100
	}
	q := &v.s.queues.all[v.s.tree.pools[leaf].queue]
	mine := v.s.precedence.placeOf(&subQueue{ask: askOf(j)}, v.s.site.sinceThen(j), j.ID)
	type ahead struct {
		Job
		place
	}
	var all []ahead
	take := func(sub *subQueue, x Job) {
		if p := v.s.precedence.placeOf(sub, x.since, x.ID); p.before(mine) {
			x.Key, x.Class = sub.key, sub.class
			all = append(all, ahead{x, p})
		}
	}
	for i := range q.subs() {
		sub := q.sub(i)
		f := sub.fresh.clone()
		for range min(most, f.jobs) {
			e := f.pop()
			take(sub, Job{ID: e.id, Tasks: int(e.tasks), since: e.since})
		}
		for _, b := range sub.begun {
			take(sub, Job{ID: v.s.queues.begun[b].id, Tasks: int(v.s.queues.begun[b].waiting), since: v.s.queues.begun[b].since})
		}
	}
	slices.SortFunc(all, func(a, b ahead) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.tie, b.tie))
	})
	var jobs []Job
	for _, x := range all[:min(most, len(all))] {
		jobs = append(jobs, x.Job)
	}
	return jobs
}
