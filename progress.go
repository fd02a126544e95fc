package fairlead

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/usage"
)

// Progress is how far an attempt is whose holder does not run it, but has put it into another
// queueing system, in which it waits for its turn. Such an attempt holds what it holds, and is
// renewed and ended like any other; but it is charged, and counts as running, only from when it
// begins there.
type Progress struct {
	Ref
	// Began is when it began; zero while it waits there.
	Began time.Time
}

// Progress says how far attempts of the worker are in the queueing system into which it puts
// them. What is known is not written again.
func (m *Member) Progress(ctx context.Context, all []Progress) error {
	l := m.loop
	l.ending.RLock()
	defer l.ending.RUnlock()
	l.mu.Lock()
	var news []Progress
	for _, p := range all {
		if r := l.runs[taskID{p.JobID, p.Task}]; r != nil && r.ref == p.Ref && r.queued && !p.Began.IsZero() {
			news = append(news, p)
		}
	}
	l.mu.Unlock()
	if len(news) == 0 {
		return nil
	}
	errs, err := l.store.Progress(context.WithoutCancel(ctx), news)
	if err != nil {
		return fmt.Errorf("note what began: %w", err)
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range news {
		if r := l.runs[taskID{p.JobID, p.Task}]; errs[i] == nil && r != nil && r.ref == p.Ref {
			l.moveOn(r, Run{Ref: p.Ref, Started: p.Began}, now)
		}
	}
	l.poke()
	return nil
}

// sayQueued tells the store of the leases that go to nodes behind which they will wait in
// another queueing system, and lets them last as long as these want from the beginning: the
// worker may die before it renews them, and they go on there.
func (l *Loop) sayQueued(ctx context.Context, c *choice, grants []Grant) error {
	var all []Progress
	long := map[time.Duration][]Ref{}
	for i, lease := range c.leases(grants) {
		m := c.starts[i].member
		if lease == nil || m == nil || !m.info.Queue {
			continue
		}
		all = append(all, Progress{Ref: lease.Ref})
		if m.info.Lease > l.options.LeaseTTL {
			long[m.info.Lease] = append(long[m.info.Lease], lease.Ref)
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err := l.store.Progress(ctx, all)
	for ttl, refs := range long {
		if err == nil {
			_, err = l.store.Renew(ctx, refs, ttl)
		}
	}
	if err != nil {
		l.log.Warn("that tasks wait in a queueing system could not be written down; they are given back", "tasks", len(all), "error", err)
	}
	return err
}

// moveOn notes that a run waits in another queueing system, or began there. It goes one way
// only: what is told late is known already.
func (l *Loop) moveOn(r *liveRun, to Run, now time.Time) {
	switch {
	case to.Queued && !r.queued && !r.begun:
		l.core.Queue(r.run, now)
		r.queued = true
	case !to.Queued && r.queued:
		r.started = usage.Within(to.Started, r.started, now)
		l.core.Begin(r.run, r.started, now)
		r.queued, r.begun = false, true
		to.Holder, to.Started = r.holder, r.started
		l.observer.BeganThere(to, r.header, r.came)
		l.watchers.publish(startedEvent(to, r.header))
	default:
		return
	}
	l.version++
}

// finished counts out what a result tells of.
func (l *Loop) finished(res *Result, now time.Time) {
	if r := l.runs[taskID{res.JobID, res.Task}]; r != nil && r.ref == res.Ref && !res.Began.IsZero() {
		l.moveOn(r, Run{Ref: res.Ref, Started: res.Began}, now)
	}
	ended := now
	if !res.Ended.IsZero() {
		ended = res.Ended
	}
	l.endAt(res.Ref, ended, now, res.Outcome.State != Cancelled)
}

// begunUnits are the units in which something runs in a pool, without what waits in other
// queueing systems.
func (l *Loop) begunUnits(id sched.PoolID) float64 {
	_, units := l.core.Queued(id)
	return max(0, l.core.View(id).Running-units)
}

// begunTasks is how many tasks of a pool run, without those that wait in other queueing systems.
func (l *Loop) begunTasks(id sched.PoolID) int32 {
	tasks, _ := l.core.Queued(id)
	return l.core.View(id).Tasks - int32(tasks)
}

// waitingTasks is how many tasks of a pool wait, here or in other queueing systems.
func (l *Loop) waitingTasks(id sched.PoolID) int64 {
	tasks, _ := l.core.Queued(id)
	return l.core.View(id).Waiting + int64(tasks)
}
