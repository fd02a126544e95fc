package sched

import (
	"iter"
	"maps"
	"math"

	"github.com/fairlead/fairlead/cluster"
)

// A planned start that rests only on time limits is a promise, and users see it as one. Predictions may be wrong, so
// they must not break a promise: a task without a limit starts before a promised start only beside the room that is
// kept for it. There is one exception. If a window keeps the job from its nodes until some instant, the nodes would be
// idle until then. So a task without a limit starts there if it would end by then even if it ran ten times as long as
// predicted. A task with a limit goes before a promised start only if the running tasks without a limit could go on
// beside both.

// promises records which planned starts are promises.
type promises struct {
	starts  map[int64]int64 // by job: the promised start
	endless int             // number of waiting tasks without a time limit that are planned
	gap     bool            // a task has no planned start: it may take room before those behind it in the order
}

// windowMargin is by how much a prediction may be wrong before a task delays a job that waits for a window.
const windowMargin = 10

func (p *promises) fork() promises {
	return promises{starts: maps.Clone(p.starts), endless: p.endless, gap: p.gap}
}

// forget drops the promise to a job that starts or leaves.
func (p *promises) forget(job int64) {
	if len(p.starts) > 0 {
		delete(p.starts, job)
	}
}

// make records the start of a job as a promise.
func (p *promises) make(r *reserved) {
	if p.starts == nil {
		p.starts = map[int64]int64{}
	}
	p.starts[r.job] = r.from
}

// isSure reports whether the planned start of a job rests on no prediction. That is so if no task without a limit runs
// on the job's nodes or holds its licenses. Besides, no such task may be planned to start before the job, or come to be
// planned so. A promised start stays a promise, even if it moves to an earlier time, because tasks without a limit
// started only beside its room.
func (f *reserve) isSure(r *reserved) bool {
	b := &f.backfill
	if r.sure {
		return true
	}
	if len(b.promises.starts) > 0 {
		if start, made := b.promises.starts[r.job]; made && r.from <= start {
			return true
		}
	}
	return needsNoPrediction(f, r)
}

// needsNoPrediction is isSure without regard to earlier promises.
func needsNoPrediction(f *reserve, r *reserved) bool {
	p := &f.backfill.promises
	switch {
	case p.endless > 0, p.gap:
		return false
	case f.running.endless.all == 0:
		return true
	}
	return !f.quotas.holdsLicense(r.key) && !f.running.endlessAmong(r.nodes)
}

// promise makes the planned start of the job that goes first a promise if it is sure, and otherwise takes the promise
// back. A start that moved to an earlier time, where it rests on predictions, leaves the promise as it was.
func (f *reserve) promise(r *reserved) {
	p := &f.backfill.promises
	switch start, made := p.starts[r.job]; {
	case !r.sure:
		p.forget(r.job)
	case !made || r.from < start && needsNoPrediction(f, r):
		p.make(r)
	}
}

// beforePromise reports whether the planned start of a job moved to before its promise, by predictions.
func beforePromise(f *reserve, r *reserved) bool {
	start, made := f.backfill.promises.starts[r.job]
	return made && r.from < start && !needsNoPrediction(f, r)
}

// promiseAll makes all planned starts promises. If jobs go in order of arrival, all of them are promises until tasks
// without a limit run.
func (b *backfilling) promiseAll() {
	for i := range b.keep.all {
		r := &b.keep.all[i]
		if start, made := b.promises.starts[r.job]; r.from != unplaced && r.sure && (!made || r.from < start) {
			b.promises.make(r)
		}
	}
}

// beside answers whether a task without a time limit may start beside the promised starts.
type beside struct{ *reserve }

// promised yields the promised starts of other jobs that a task without a time limit, with a predicted run time, could
// delay.
func (f beside) promised(job, length int64) iter.Seq[*reserved] {
	return func(yield func(*reserved) bool) {
		for _, all := range [...][]reserved{f.backfill.firsts, f.backfill.keep.all} {
			for i := range all {
				r := &all[i]
				if r.sure && r.from != unplaced && r.job != job && !f.endsBeforeWindow(r, length) && !yield(r) {
					return
				}
			}
		}
	}
}

// spares is the number of tasks of a job that a node can take now beside the promised starts of other jobs. The job has
// the given key and planned run time; the argument "endless" means that it has no time limit. The argument "most"
// bounds the result.
func (f beside) spares(job int64, id cluster.NodeID, key cluster.Key, length int64, endless bool, most int) int {
	for r := range f.promised(job, length) {
		if r.on(id) {
			most = min(most, f.besides(id, key, r, f.endOf(length, endless)))
		}
	}
	return most
}

// endOf is when a task ends that starts now.
func (f beside) endOf(length int64, endless bool) int64 {
	if endless {
		return cluster.Forever
	}
	return f.site.instantOf() + length
}

// besides is the number of tasks with a key that a node can take until an instant beside a planned start. It assumes
// that no running task without a time limit ends before that instant.
func (f beside) besides(id cluster.NodeID, key cluster.Key, r *reserved, until int64) int {
	plan, to := f.backfill.plan, min(until, r.to)
	switch {
	case to <= r.from:
		return math.MaxInt
	case f.running.endless.of(id) == 0:
		return plan.Holds(id, key, r.from, to)
	}
	f.prolong(r, -1)
	defer f.prolong(r, +1)
	return plan.Holds(id, key, r.from, to)
}

// prolong changes the plan so that the running tasks without a time limit on the nodes of a planned start go on until
// the end of that start. The licenses of all running tasks without a limit are held until then, too. With the sign +1
// it undoes this.
func (f beside) prolong(r *reserved, sign int64) {
	for x := range f.running.endingBefore(r.to) {
		f.planLicenses(x.key, sign, x.until, r.to)
		switch {
		case !r.on(x.node):
		case sign < 0:
			f.backfill.plan.Take(x.node, x.key, x.until, r.to)
		default:
			f.backfill.plan.Give(x.node, x.key, x.until, r.to)
		}
	}
}

// sparesLicenses reports whether the licenses of a job with a key and a planned run time are not promised to others.
func (f beside) sparesLicenses(job int64, key cluster.Key, length int64, endless bool) bool {
	if !f.quotas.holdsLicense(key) {
		return true
	}
	for r := range f.promised(job, length) {
		if f.quotas.holdsLicense(r.key) && f.endOf(length, endless) > r.from && !f.licensesBeside(key, r) {
			return false
		}
	}
	return true
}

// licensesBeside reports whether a task with a key, or a gang, can hold its licenses beside a planned start, assuming
// that no running task without a time limit ends before.
func (f beside) licensesBeside(key cluster.Key, r *reserved) bool {
	f.prolong(r, -1)
	defer f.prolong(r, +1)
	_, found := f.licensesFrom(key, r.to-r.from, r.from, r.from+1)
	return found
}

// endsBeforeWindow reports whether a task that starts now and runs for many times its prediction will have ended before
// the windows let a job start.
func (f beside) endsBeforeWindow(r *reserved, length int64) bool {
	return f.site.cluster.Windows().Any() && f.site.instantOf()+windowMargin*length <= f.site.opens(r)
}

// opens is the first instant at which the windows let a job start on its nodes, if nothing else runs there.
func (m *site) opens(r *reserved) int64 {
	now, window := m.instantOf(), m.cluster.Window(r.key)
	opens := now
	if !m.cluster.Windows().Any() {
		return opens
	}
	for _, id := range r.nodes {
		begin, end := m.cluster.Nodes()[id].Open(window, now)
		for begin < cluster.Forever && end-begin < r.to-r.from {
			begin, end = m.cluster.Nodes()[id].Open(window, end)
		}
		opens = max(opens, begin)
	}
	return opens
}

// sparesPlanned reports whether a task, or a gang, that is planned to start now leaves the promised starts alone.
func (f beside) sparesPlanned(r *reserved) bool {
	length := r.to - r.from
	if !r.endless && f.running.endless.all == 0 {
		return true // it is planned beside them, and no prediction can be wrong
	}
	if f.site.cluster.Windows().Any() {
		length = f.lengthAt(r.at)
	}
	if !f.sparesLicenses(r.job, r.key, length, r.endless) {
		return false
	}
	for id, n := range r.tasks() {
		if f.spares(r.job, id, r.key, length, r.endless, n) < n {
			return false
		}
	}
	return true
}
