package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why/room"
)

// turns returns how long jobs have been the first without room.
func (m Memory) turns() (all []room.Turn) {
	for _, t := range m.s.reserve.backfill.patience.of {
		x := room.Turn{Job: t.job, First: time.Unix(0, t.first), Since: time.Unix(0, t.since)}
		x.Sure, x.Passed, x.Served, x.Share = t.sure, t.passed, t.served, t.share
		if t.until < cluster.Forever {
			until := time.Unix(0, t.until)
			x.Until = &until
		}
		all = append(all, x)
	}
	return all
}

// setTurns restores how long jobs have been the first without room. The scheduler must already know
// all running tasks.
func (m Memory) setTurns(pools []Known) {
	p := &m.s.reserve.backfill.patience
	for i := range pools {
		for _, x := range pools[i].Turns {
			if _, known := p.find(x.Job); known || len(p.of) == maxTurns {
				continue
			}
			at, waits := m.s.queues.where(x.Job)
			if !waits {
				continue
			}
			t := turn{job: x.Job, first: x.First.UnixNano(), since: x.Since.UnixNano(), until: cluster.Forever,
				sure: x.Sure, passed: x.Passed, served: x.Served, share: x.Share, at: at}
			if x.Until != nil {
				t.until = x.Until.UnixNano()
			}
			for k := range m.s.running.runs {
				if r := &m.s.running.runs[k]; r.used && r.started.UnixNano() <= t.since {
					t.ran++
				}
			}
			p.of = append(p.of, t)
		}
	}
}

// where finds the sub-queue in which tasks of a job wait.
func (w *queues) where(job int64) (at subRef, waits bool) {
	if b, begun := w.begunOf[job]; begun {
		return w.begun[b].at, w.begun[b].waiting > 0
	}
	for i := range w.all {
		q := &w.all[i]
		for k := range q.subs() {
			if _, _, found := q.sub(k).fresh.find(job); found {
				return subRef{int32(i), int32(k)}, true
			}
		}
	}
	return at, false
}
