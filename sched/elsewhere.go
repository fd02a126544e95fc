package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Several schedulers may share the waiting jobs: each starts tasks on its own nodes, and learns which tasks the
// others start. Each counts the running tasks of all schedulers.

// Take records that another scheduler started a task of a job on a node: the task no longer waits, and has run since
// the instant "started". Unlike after [Scheduler.Adopt], the start counts under its rates, unless SetRate has already
// counted it.
func (s *Scheduler) Take(j Job, node cluster.NodeID, started, t time.Time) RunID {
	s.Advance(t)
	if l := s.quotas.needsOf(j.Key); l != nil {
		s.quotas.countElsewhere(l, started)
	}
	at, h, waits := s.growth.waitingHead(j)
	if !waits {
		s.intake.later.take(j.ID)
		id := s.Adopt(j, node, started, t)
		s.placement.chosenElsewhere(id)
		return id
	}
	s.site.events++
	s.reserve.backfill.keep.left, s.reserve.backfill.keep.freed = true, true
	q := &s.queues.all[at.queue]
	leaf, bar := q.pool, q.bar(q.sub(int(at.sub)))
	j.since, j.Priority = h.since, int(q.sub(int(at.sub)).priority)
	b := s.queues.take(at, h)
	s.queues.countWaiting(at, -1)
	id := s.placement.occupy(leaf, b, &j, node, started, bar)
	s.placement.chosenElsewhere(id)
	return id
}

// countElsewhere takes the rate tokens of a start that another scheduler made. The state of a rate and start times
// refer to the same clock.
func (c *quotas) countElsewhere(t *quotaNeeds, started time.Time) {
	for _, n := range t.rates {
		if r := &c.rates[n]; r.Limit.Count > 0 && started.After(r.setAt) {
			r.Take(c.site.at, 1)
		}
	}
}

// SubQueue names the sub-queue that a job of one task was started from.
type SubQueue struct {
	leaf int32
	of   ask
}

// SubQueueOf returns the sub-queue that a task was started from. The second result says whether the task is the only
// one of its job.
func (v View) SubQueueOf(id RunID) (l SubQueue, only bool) {
	r := v.s.running.run(id)
	return SubQueue{r.pool, r.ask()}, r.begun < 0
}

// Alike returns, in order, the first jobs of a sub-queue that have one task each. It returns at most as many jobs as
// the argument "most" says.
func (v View) Alike(of SubQueue, most int) (ids []int64) {
	n := v.s.tree.pools[of.leaf].queue
	if n < 0 {
		return nil
	}
	for i := range v.s.queues.all[n].subs() {
		sub := v.s.queues.all[n].sub(i)
		if sub.ask != of.of {
			continue
		}
		for c := range sub.fresh.chunks() {
			for _, e := range sub.fresh.chunk(c).entries[sub.fresh.start(c):] {
				if len(ids) == most {
					return ids
				}
				if e.tasks == 1 && e.max == 0 {
					ids = append(ids, e.id)
				}
			}
		}
	}
	return ids
}

// JobOf returns the job of a running task, in the form in which Add takes a job with one waiting task.
func (v View) JobOf(id RunID) Job {
	r := v.s.running.run(id)
	return Job{ID: r.job, Pool: v.s.growth.Pool(v.s.tree.Path(PoolID(r.pool))), Key: r.key,
		Priority: int(r.priority), Tasks: 1, Limit: r.limit, Alike: r.alike, Class: r.class, since: r.since}
}
