package sched

import (
	"maps"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// predictor estimates the run time of a task without a time limit, as the mean of the last two similar tasks. Users
// repeat themselves, and the last two tasks predict better than any longer history (Tsafrir, Etsion and Feitelson,
// "Backfilling using system-generated predictions rather than user runtime estimates", IEEE TPDS 18(6), 2007). A
// task that outlives its prediction gets a longer one, see reserve.overrun.
type predictor struct {
	// fresh has the tasks that ended lately, and old the ones that ended before: when fresh is full it replaces
	// old.
	fresh, old map[likeness]lengths
	lent       bool // a fork reads the maps, too: copy them before writing
}

// likeness is the common property of tasks that probably run equally long.
type likeness struct {
	alike uint32 // of the job, see [Job.Alike]; 0: the pool is used instead
	pool  int32
	key   cluster.Key
}

// lengths are the run times of the last two tasks, in seconds. The field "before" is 0 after the first task.
type lengths struct{ last, before float64 }

func (l lengths) mean() float64 {
	if l.before == 0 {
		return l.last
	}
	return (l.last + l.before) / 2
}

// maxLikenesses is the largest size of each of the two maps.
const maxLikenesses = 4096

// note records the run time of a task, in seconds.
func (p *predictor) note(k likeness, seconds float64) {
	if p.lent {
		p.fresh, p.old, p.lent = maps.Clone(p.fresh), maps.Clone(p.old), false
	}
	if len(p.fresh) >= maxLikenesses {
		p.old, p.fresh = p.fresh, nil
	}
	if p.fresh == nil {
		p.fresh = map[likeness]lengths{}
	}
	known, _ := p.of(k)
	p.fresh[k] = lengths{last: seconds, before: known.last}
}

// of returns the run times of the last similar tasks, and whether there were any.
func (p *predictor) of(k likeness) (lengths, bool) {
	if l, known := p.fresh[k]; known {
		return l, true
	}
	l, known := p.old[k]
	return l, known
}

// fork shares the maps with a copy of the scheduler.
func (p *predictor) fork() predictor {
	p.lent = true
	return *p
}

// likenessOf is the likeness of a task in a leaf pool. Jobs of different priorities in one pool are alike.
func (f *reserve) likenessOf(leaf int32, a *ask) likeness {
	if a.alike != 0 {
		return likeness{alike: a.alike, key: a.key}
	}
	return likeness{pool: f.tree.learner(leaf), key: a.key}
}

// predicts reports whether predictions are needed. If all waiting and running tasks have the same request, nothing
// is planned, and the mean lengths of the pools suffice.
func (f *reserve) predicts() bool { return f.site.backfills() && !f.backfill.uniform }

// predicted estimates the run time of a task, in nanoseconds, from the last similar tasks. If there were none, it
// takes the mean of the pool, or of the nearest pool above with an ended task. The time limit bounds it.
func (f *reserve) predicted(leaf int32, a *ask) int64 {
	seconds := 0.0
	if l, known := f.predictor.of(f.likenessOf(leaf, a)); known {
		seconds = l.mean()
	} else {
		seconds = f.tree.meanOf(leaf)
	}
	length := int64(min(seconds*1e9, float64(NoLimit)))
	return max(min(length, planned(a.limit)), int64(time.Millisecond))
}

// length is the planned run time of a task: its time limit or, if it has none, the prediction.
func (f *reserve) length(leaf int32, a *ask) int64 {
	if a.limit > 0 {
		return planned(a.limit)
	}
	return f.predicted(leaf, a)
}

// keptLength is the length of the room that is kept for a job of a sub-queue. While windows are coming, room for a
// task without a limit has no end, because no limit ends the task before a window begins.
func (f *reserve) keptLength(at subRef) int64 {
	if limit := f.queues.sub(at).limit; limit > 0 || f.site.cluster.Windows().Any() {
		return planned(limit)
	}
	return f.lengthAt(at)
}

// lengthAt is lengthNow for the jobs of a sub-queue.
func (f *reserve) lengthAt(at subRef) int64 {
	q := &f.queues.all[at.queue]
	return f.lengthNow(q.pool, &q.sub(int(at.sub)).ask)
}

// lengthNow is length for a task that would start now. While nodes are held for a job, the time limits of other
// tasks alone decide whether they may start before it.
func (f *reserve) lengthNow(leaf int32, a *ask) int64 {
	if f.backfill.patience.held.job != 0 {
		return planned(a.limit)
	}
	return f.length(leaf, a)
}

// lengthOf is length for a running task.
func (f *reserve) lengthOf(r *run) int64 {
	a := r.ask()
	if p := &f.backfill.patience; p.since != 0 && r.beside == p.since {
		p.beside = true
		return planned(0)
	}
	return f.length(r.pool, &a)
}
