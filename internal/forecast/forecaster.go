package forecast

import (
	"maps"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/sched"
)

// Forecaster predicts the future of an engine. It caches timetables for some moments.
type Forecaster struct {
	loop    *engine.Loop
	explain *explain.Explainer

	timetable explain.Cached[timetable]
	ranges    explain.Cached[timetable]
}

// tableAge is the age up to which a timetable may be used, in multiples of the time it took to compute. Computing one
// takes seconds, and each says how old it is.
const tableAge = 50

// New returns a forecaster for an engine.
func New(loop *engine.Loop) *Forecaster {
	return &Forecaster{
		loop: loop, explain: explain.New(loop),
		timetable: explain.CachedTimes[timetable](tableAge),
		ranges:    explain.CachedTimes[timetable](tableAge),
	}
}

// borrow returns memory for one question. Drop it after the answer.
func (fc *Forecaster) borrow() *borrowed { return &borrowed{explain: fc.explain} }

// Explainer returns the explainer that the forecaster uses.
func (fc *Forecaster) Explainer() *explain.Explainer { return fc.explain }

// estimatorOf copies the data for an estimate from the state, in memory that the estimate borrows.
func (fc *Forecaster) estimatorOf(s *engine.State, job int64, now time.Time, rooms *borrowed) *estimator {
	e := fc.estimatorIn(s, s.Core, job, now)
	e.future, e.rooms = s.Core.ForkIn(rooms.room()).AsFuture(rooms.room()), rooms
	return e
}

// estimatorIn is estimatorOf for a fork of the core; the caller sets its future.
func (fc *Forecaster) estimatorIn(s *engine.State, core *sched.Scheduler, job int64, now time.Time) *estimator {
	e := &estimator{
		job: job, began: now, lengths: maps.Clone(s.Lengths),
		mean: time.Duration(core.View(sched.Root).Mean * float64(time.Second)),
	}
	e.kept, e.planned = core.Read().KeptFor(job), s.Shares.Sched.Backfill == sched.Conservative
	if core.View(sched.Root).Waiting >= explain.ManyWaiting {
		e.tables, e.hurried = fc, true
	}
	return e
}
