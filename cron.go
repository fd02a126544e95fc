package fairlead

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/adhocore/gronx"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Cron submits a job whenever a schedule in the form of cron says so, in the zone of this
// process: "0 3 * * *" is each night at three, "@hourly" each full hour, "*/10 * * * * *" with
// six fields every ten seconds. job is told the instant.
//
// All processes on a store may have the schedule: the name and the instant are the key of the
// job, so that it is one. What falls due while no process runs is left out. It is to be called
// before [App.Run].
func (a *App) Cron(name, spec string, job func(at time.Time) Job) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustNotRun("Cron")
	switch {
	case name == "":
		return queue.Invalidf("cron", "a schedule needs a name, which is the same in all processes")
	case !gronx.IsValid(spec):
		return queue.Invalidf("cron", "%q is not a schedule: five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily and the like", spec)
	}
	for _, c := range a.crons {
		if c.name == name {
			return queue.Invalidf("cron", "there is a schedule %q already", name)
		}
	}
	a.crons = append(a.crons, cron{name, spec, job})
	return nil
}

// tick submits the jobs of a schedule until ctx ends.
func (a *App) tick(ctx context.Context, c cron) {
	for after := time.Now(); ; {
		at, err := gronx.NextTickAfter(c.spec, after, false)
		if err != nil {
			a.options.Logger.Error("a schedule has no further instant", "cron", c.name, "error", err)
			return
		}
		if !wait.For(ctx, time.Until(at)) {
			return
		}
		a.submitTick(ctx, c, at)
		after = at
		if now := time.Now(); now.Sub(at) > time.Minute {
			after = now // the machine slept: submissions that were due meanwhile are left out
		}
	}
}

// submitTick submits the job of one instant, again and again until the store takes it or the
// next one is due.
func (a *App) submitTick(ctx context.Context, c cron, at time.Time) {
	next, err := gronx.NextTickAfter(c.spec, at, false)
	if err != nil {
		next = at.Add(time.Hour)
	}
	for again := 100 * time.Millisecond; ; again = min(2*again, 10*time.Second) {
		j, ok := a.jobAt(c, at)
		if !ok {
			return
		}
		j.Key = fmt.Sprintf("cron %s %s", c.name, at.UTC().Format(time.RFC3339))
		j.Digest = engine.Undigested // processes may differ in what they submit, such as while they are updated one by one
		_, err := a.Submit(ctx, j)
		if err == nil {
			return
		}
		a.options.Logger.Warn("the job of a schedule could not be submitted", "cron", c.name, "at", at, "error", err)
		if time.Now().Add(again).After(next) || !wait.For(ctx, again) {
			return
		}
	}
}

// jobAt asks the program for the job of an instant. If its function panics there is none: the
// error is logged, and the next instant is waited for.
func (a *App) jobAt(c cron, at time.Time) (j Job, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			a.options.Logger.Error("the function of a schedule panicked", "cron", c.name, "at", at, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	return c.job(at), true
}
