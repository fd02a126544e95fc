package forecast

import (
	"maps"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/sched"
)

// Forecaster looks into the future of a loop. It remembers the timetables that it made, for some
// moments.
type Forecaster struct {
	loop    *engine.Loop
	explain *explain.Explainer

	timetable explain.Cached[timetable]
	ranges    explain.Cached[timetable]
}

// tableAge is how many times as long as it took to make a timetable may be used. Making one takes
// seconds, and it says when it is of.
const tableAge = 50

// New returns a forecaster for a loop.
func New(loop *engine.Loop) *Forecaster {
	return &Forecaster{
		loop: loop, explain: explain.New(loop),
		timetable: explain.CachedTimes[timetable](tableAge),
		ranges:    explain.CachedTimes[timetable](tableAge),
	}
}

// Explainer is the explainer that the forecaster asks.
func (fc *Forecaster) Explainer() *explain.Explainer { return fc.explain }

// estimatorOf takes what an estimate needs out of the state.
func (fc *Forecaster) estimatorOf(s *engine.State, job int64, now time.Time) *estimator {
	e := fc.estimatorIn(s, s.Core, job, now)
	e.future = s.Core.Future()
	return e
}

// estimatorIn is estimatorOf for a fork of the core, whose future is still to be taken.
func (fc *Forecaster) estimatorIn(s *engine.State, core *sched.Scheduler, job int64, now time.Time) *estimator {
	e := &estimator{
		job: job, began: now, lengths: maps.Clone(s.Lengths),
		mean: time.Duration(core.View(sched.Root).Mean * float64(time.Second)),
	}
	e.kept, e.planned = core.Read().KeptFor(job), s.Shares.Sched.Placement == sched.Conservative
	if core.View(sched.Root).Waiting >= explain.ManyWaiting {
		e.tables, e.hurried = fc, true
	}
	return e
}
