package sched

import (
	"container/heap"
	"time"
)

// intake adds jobs, when their time has come, and removes them.
type intake struct {
	site    *site
	tree    *tree
	orders  *orders
	queues  *queues
	running *running
	turns   *turns
	quotas  *quotas
	reserve *reserve
	growth  *growth

	later   later
	newJobs newJobs
}

func (a *intake) add(j Job) { a.addAs(j, a.site.isNew(j)) }

// addAs adds a job to the priority class of new jobs, or to that of the other jobs.
func (a *intake) addAs(j Job, isNew bool) {
	a.site.events++
	leaf := a.growth.leaf(j, isNew)
	at := a.growth.subFor(leaf, askOf(&j))
	if isNew && a.tree.pools[leaf].isNew && !j.Submitted.IsZero() {
		a.watch(j, at)
	}
	if len(a.quotas.needs) > 0 && a.quotas.needsOf(j.Key) == nil {
		a.turns.joins(leaf)
	}
	most := int32(j.MaxRunning)
	b, begun := a.queues.begunOf[j.ID]
	if gang := a.site.gangOf(j.Key); !begun && int32(j.Tasks) < gang {
		b, begun = a.queues.begin(entry{id: j.ID, since: a.site.sinceThen(&j), max: most}, at), true
	}
	if begun {
		a.addBegun(b, at, int32(j.Tasks), most)
	} else {
		q := &a.queues.all[at.queue]
		sub := q.sub(int(at.sub))
		was := sub.ready()
		sub.fresh.add(entry{j.ID, a.site.sinceThen(&j), int32(j.Tasks), most}, a.site.epoch)
		a.queues.count(q, at.sub, was)
	}
	a.queues.addWaiting(at, int64(j.Tasks))
	a.reserve.came(j.ID, at, int32(j.Tasks))
	if in := a.tree.parentOf(leaf); begun || !a.tree.pools[leaf].seat.in || in.first || in.ranks || a.orders.byResource() {
		a.turns.keeping = a.queues.heldAlike(leaf, at)
		a.turns.settle(leaf)
		a.turns.keeping = noGate
	}
	a.turns.meetDominant()
}

// addBegun adds waiting tasks to a job with running tasks, perhaps in another sub-queue than before.
func (a *intake) addBegun(b int32, at subRef, tasks, most int32) {
	j := &a.queues.begun[b]
	j.own, j.max, j.gang = most, tighter(most, a.queues.all[at.queue].max), a.site.gangOf(a.queues.sub(at).key)
	was := j.at
	if was != at {
		moved := j.waiting
		a.queues.addWaiting(at, int64(moved)) // first, so that no pool seems idle
		a.queues.change(was, func(*subQueue) { j.waiting = 0; a.queues.reheap(b) })
		a.queues.addWaiting(was, -int64(moved))
		a.queues.sub(was).refs--
		a.queues.sub(at).refs++
		j.at, j.waiting = at, moved
	}
	a.queues.change(at, func(*subQueue) { j.waiting += tasks; a.queues.reheap(b) })
	if was != at {
		a.turns.keeping = a.queues.heldAlike(a.queues.all[at.queue].pool, at)
		a.turns.settle(a.queues.all[at.queue].pool)
		a.turns.keeping = noGate
		a.turns.settle(a.queues.all[was.queue].pool)
	}
}

func (a *intake) withdrawFresh(at subRef, job int64) int32 {
	waiting := int32(0)
	a.queues.change(at, func(sub *subQueue) { waiting = sub.fresh.remove(job, a.site.epoch) })
	a.queues.addWaiting(at, -int64(waiting))
	a.turns.settle(a.queues.all[at.queue].pool)
	return waiting
}

func (a *intake) withdrawBegun(b int32) int {
	j := &a.queues.begun[b]
	leaf, n := a.queues.all[j.at.queue].pool, int(j.waiting)
	a.queues.change(j.at, func(*subQueue) { j.waiting = 0; a.queues.reheap(b) })
	a.queues.release(b)
	a.queues.addWaiting(j.at, -int64(n))
	a.turns.settle(leaf)
	return n
}

// waitAgain adds the task of an ended run again.
func (a *intake) waitAgain(r *run, most int32) {
	path := a.tree.Path(PoolID(r.pool))
	// A job that is still new has its entry among the new jobs.
	a.addAs(Job{ID: r.job, Pool: a.growth.Pool(path), Key: r.key, Priority: int(r.priority), Tasks: 1,
		MaxRunning: int(most), Limit: r.limit, Alike: r.alike, Class: r.class, since: r.since},
		r.isNew && a.newJobs.has(r.job))
}

// anyWaits reports whether a task waits, or will wait from its begin time on.
func (a *intake) anyWaits() bool {
	return a.tree.pools[Root].Waiting > 0 || !a.later.next().IsZero()
}

// nextAged is when the next new-job window ends; zero if there is none.
func (a *intake) nextAged() time.Time {
	if len(a.newJobs) == 0 {
		return time.Time{}
	}
	return a.newJobs[0].submitted.Add(a.site.cfg.NewJobs.For)
}

// watch records the sub-queue of a new job.
func (a *intake) watch(j Job, at subRef) {
	heap.Push(&a.newJobs, newJob{j.Submitted, j.ID, at})
}

// ageNewJobs moves jobs whose new-job window is over to the regular priority classes.
func (a *intake) ageNewJobs() {
	for len(a.newJobs) > 0 && !a.nextAged().After(a.site.at) {
		x := heap.Pop(&a.newJobs).(newJob)
		b, begun := a.queues.begunOf[x.id]
		if begun {
			x.at = a.queues.begun[b].at
		} else if at, found := a.queues.freshIn(x.at.queue, x.id); found {
			x.at = at
		} else {
			continue
		}
		leaf := a.queues.all[x.at.queue].pool
		if !a.tree.pools[leaf].isNew {
			continue
		}
		j := Job{ID: x.id, Pool: PoolID(leaf), Key: a.queues.sub(x.at).key, Class: a.queues.sub(x.at).class,
			Limit: a.queues.sub(x.at).limit, Alike: a.queues.sub(x.at).alike, Priority: int(a.queues.sub(x.at).priority)}
		if a.tree.labels[leaf].kind == priorityClass {
			j.Pool = PoolID(a.tree.pools[leaf].parent)
		}
		switch {
		case begun && a.queues.begun[b].waiting > 0:
			j.MaxRunning = int(a.queues.begun[b].own)
			a.add(j)
		case !begun:
			a.moveFresh(j, leaf, x.at)
		}
	}
}

// moveFresh moves a waiting job without started tasks.
func (a *intake) moveFresh(j Job, leaf int32, at subRef) {
	fresh := &a.queues.sub(at).fresh
	ci, i, found := fresh.find(j.ID)
	if !found {
		return
	}
	e := fresh.chunk(ci).entries[i]
	j.Tasks, j.MaxRunning, j.since = int(e.tasks), int(e.max), e.since
	a.queues.change(at, func(sub *subQueue) { sub.fresh.remove(j.ID, a.site.epoch) })
	a.queues.addWaiting(at, -int64(e.tasks))
	a.turns.settle(leaf)
	a.add(j)
}

// newJobs holds the jobs in priority classes of new jobs, by submission time.
type newJobs []newJob

func (r newJobs) Len() int { return len(r) }

func (r newJobs) Less(i, j int) bool {
	if !r[i].submitted.Equal(r[j].submitted) {
		return r[i].submitted.Before(r[j].submitted)
	}
	return r[i].id < r[j].id
}

func (r newJobs) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

func (r *newJobs) Push(x any) { *r = append(*r, x.(newJob)) }

func (r *newJobs) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}

func (r newJobs) has(job int64) bool {
	for i := range r {
		if r[i].id == job {
			return true
		}
	}
	return false
}

// newJob is the sub-queue that a new job was added to.
type newJob struct {
	submitted time.Time
	id        int64
	at        subRef
}
