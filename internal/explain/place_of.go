package explain

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// placeAmongMany returns the place of a job by the shared order, which may be a moment old.
func (ex *Explainer) placeAmongMany(ctx context.Context, j *queue.Job) *place {
	const order = 3 * time.Millisecond
	o := ex.orderSoon(ctx, order)
	if _, known := o.Position[j.ID]; !known {
		o = ex.CachedOrder(ctx)
	}
	var s sched.Job
	var core, then *sched.Scheduler
	var kept *preview
	room, free := ex.Room()
	ex.loop.Read(func(st *engine.State) {
		s, core = st.JobOf(engine.HeaderOf(j)), st.Core
		if holds(st, o, j, s) {
			return
		}
		if kept = ex.previews.stored(s, core); kept == nil {
			core.Advance(time.Now())
			then = core.ForkIn(room)
		}
	})
	if then == nil {
		free()
	} else {
		kept = ex.previews.keep(s, ex.orderAhead(j.ID, core, then), free)
	}
	if kept != nil {
		o = kept.order
	}
	return engine.Read(ex.loop, func(st *engine.State) *place {
		st = st.With(o.then)
		t := Tally(st, st.JobOf(engine.HeaderOf(j)))
		p := t.LookUp(o, j.ID)
		p.then, p.at, p.of = o.then, o.then.Read().Instant(), kept
		return p
	})
}

// orderAhead returns the order ahead of a job in a copy of the scheduler.
func (ex *Explainer) orderAhead(job int64, core, then *sched.Scheduler) *Order {
	room, free := ex.Room()
	defer free()
	o := OrderUpTo(job, then.ForkIn(room).AsOutlook())
	o.core, o.then = core, then
	return o
}

// holds reports whether an order still shows the place of a job. That is so if nothing has changed since the order was
// computed, or if the job had the same place and the same restrictions then.
func holds(st *engine.State, o *Order, j *queue.Job, s sched.Job) bool {
	if o.core != st.Core || o.config != st.Shares.Hash {
		return false
	}
	if o.of == st.Version || !waitsNow(st, s) {
		return true
	}
	if _, found := o.Position[j.ID]; !found {
		return false
	}
	leaf, bars := st.Core.Leaf(s), barsOf(st, s)
	st = st.With(o.then)
	then := st.JobOf(engine.HeaderOf(j))
	return st.Core.Leaf(then) == leaf && slices.Equal(barsOf(st, then), bars)
}

// waitsNow reports whether the job has waiting tasks that could start now if there were room.
func waitsNow(st *engine.State, s sched.Job) bool {
	now, _ := st.Core.Read().Waits(s)
	return now
}

// barsOf returns the codes of the job's restrictions other than the lack of room.
func barsOf(st *engine.State, s sched.Job) []why.Code {
	var codes []why.Code
	for _, g := range st.Core.GateView().Gates(s) {
		if !g.Open && g.Code != why.FitNow && !keepsFree(g.Code) {
			codes = append(codes, g.Code)
		}
	}
	return codes
}
