package fairlead

import (
	"context"
	"fmt"
	"time"

	"github.com/adhocore/gronx"
)

// cron is a schedule by which jobs are submitted.
type cron struct {
	name, spec string
	job        func(at time.Time) Job
}

// Cron submits a job whenever a schedule in the form of cron says so, in the zone of this
// process: "0 3 * * *" is each night at three, "@hourly" each full hour, "*/10 * * * * *" with
// six fields every ten seconds. job is told the instant.
//
// All processes on a store may have the schedule: the name and the instant are the key of the
// job, so that it is one. What falls due while no process runs is left out. It is to be called
// before [App.Run].
func (a *App) Cron(name, spec string, job func(at time.Time) Job) error {
	a.mustNotRun("Cron")
	switch {
	case name == "":
		return invalid("cron", "a schedule needs a name, which is the same in all processes")
	case !gronx.IsValid(spec):
		return invalid("cron", "%q is not a schedule: five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily and the like", spec)
	}
	for _, c := range a.crons {
		if c.name == name {
			return invalid("cron", "there is a schedule %q already", name)
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
		if !pause(ctx, time.Until(at)) {
			return
		}
		a.submitTick(ctx, c, at)
		after = at
		if now := time.Now(); now.Sub(at) > time.Minute {
			after = now // the machine slept: what was due meanwhile is left out
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
		j := c.job(at)
		j.Key = fmt.Sprintf("cron %s %s", c.name, at.UTC().Format(time.RFC3339))
		_, err := a.Submit(ctx, j)
		if err == nil {
			return
		}
		a.options.Logger.Warn("the job of a schedule could not be submitted", "cron", c.name, "at", at, "error", err)
		if time.Now().Add(again).After(next) || !pause(ctx, again) {
			return
		}
	}
}

// pause waits, and reports false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
