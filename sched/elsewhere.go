package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Several schedulers may share the waiting jobs: each starts tasks on nodes of its own, and
// hears which tasks the others start. Each counts the running tasks of all.

// Take says that somebody started a task of a job on a node: it waits no more, if it did, and
// runs since started. Unlike [Scheduler.Adopt] it is no matter of the past: the start counts
// under its rates, unless it is among what SetRate has told of them.
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
	q := &s.lines.queues[at.queue]
	leaf, bar := q.pool, q.bar(q.line(int(at.line)))
	j.since = h.since
	b := s.lines.take(at, h)
	s.lines.countWaiting(at, -1)
	id := s.placement.occupy(leaf, b, &j, node, started, bar)
	s.placement.chosenElsewhere(id)
	return id
}

// countElsewhere takes the tokens of a start that somebody else made. Where a rate stands was
// told as of an instant of the clock that start times are of, too.
func (c *quotas) countElsewhere(t *quotaNeeds, started time.Time) {
	for _, n := range t.rates {
		if r := &c.rates[n]; r.Limit.Count > 0 && started.After(r.setAt) {
			r.Take(c.site.at, 1)
		}
	}
}

// Line names the line from which a job of one task was started.
type Line struct {
	leaf int32
	of   ask
}

// LineOf is the line from which a task was started, if it is the only one of its job.
func (v View) LineOf(id RunID) (l Line, only bool) {
	r := v.s.running.run(id)
	return Line{r.pool, r.ask()}, r.begun < 0
}

// Alike are up to most jobs of one task each that go next in a line, in order.
func (v View) Alike(of Line, most int) (ids []int64) {
	n := v.s.tree.pools[of.leaf].queue
	if n < 0 {
		return nil
	}
	for i := range v.s.lines.queues[n].lines() {
		l := v.s.lines.queues[n].line(i)
		if l.ask != of.of {
			continue
		}
		for c := range l.fresh.chunks() {
			for _, e := range l.fresh.chunk(c).entries[l.fresh.start(c):] {
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

// JobOf is the job of a task that runs, as one task of it that waits was added.
func (v View) JobOf(id RunID) Job {
	r := v.s.running.run(id)
	return Job{ID: r.job, Pool: v.s.growth.Pool(v.s.tree.Path(PoolID(r.pool))), Key: r.key,
		Priority: int(r.priority), Tasks: 1, Limit: r.limit, Alike: r.alike, Class: r.class, since: r.since}
}
