package fairlead

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/schedule"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Cron submits a job whenever a cron schedule is due, in the time zone of this process. "0 3 * * *" is every night at
// three, "@hourly" is every full hour, and "*/10 * * * * *", with six fields, is every ten seconds. The function "job"
// receives the instant.
//
// When clocks change, "30 2 * * *" is still due once a day. On a day without half past two, it is due at the change. On
// a day with two of them, it is due at the first. "@hourly" and "*/20 * * * *" continue through the change. Cron
// refuses a schedule that is never due, such as February 31.
//
// All processes on a store may have the same schedule: the name and the instant form the key of the job, so it is
// submitted once. Instants at which no process runs are skipped. Call Cron before [App.Run].
func (a *App) Cron(name, spec string, job func(at time.Time) Job) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mustNotRun("Cron")
	if name == "" {
		return queue.Invalidf("cron", "a schedule needs a name, which is the same in all processes")
	}
	s, err := schedule.Parse(spec)
	if err != nil {
		return queue.Invalidf("cron", "%v", err)
	}
	if _, err := s.Next(time.Now()); err != nil {
		return queue.Invalidf("cron", "%q: %v", spec, err)
	}
	for _, c := range a.crons {
		if c.name == name {
			return queue.Invalidf("cron", "there is a schedule %q already", name)
		}
	}
	a.crons = append(a.crons, cron{name, s, job})
	return nil
}

// tick submits the jobs of a schedule until ctx ends.
func (a *App) tick(ctx context.Context, c cron) {
	for after := time.Now(); ; {
		at, err := c.schedule.Next(after)
		if err != nil {
			a.options.Logger.Info("a schedule has no further instant", "cron", c.name)
			return
		}
		if !waitUntil(ctx, at) {
			return
		}
		a.submitTick(ctx, c, at)
		after = at
		if now := time.Now(); now.Sub(at) > time.Minute {
			after = now // the machine slept: skip submissions that were due meanwhile
		}
	}
}

// waitUntil waits until the clock shows the instant "at". It checks the clock at intervals, because someone may set it,
// and because timers stop while the machine sleeps. It returns false if ctx has ended.
func waitUntil(ctx context.Context, at time.Time) bool {
	for {
		left := time.Until(at)
		if left <= 0 {
			return ctx.Err() == nil
		}
		if !wait.For(ctx, min(left, 30*time.Second)) {
			return false
		}
	}
}

// submitTick submits the job of one instant, and tries again until the store takes it or the next instant is due.
func (a *App) submitTick(ctx context.Context, c cron, at time.Time) {
	next, err := c.schedule.Next(at)
	if err != nil {
		next = at.Add(time.Hour)
	}
	for again := 100 * time.Millisecond; ; again = min(2*again, 10*time.Second) {
		j, ok := a.jobAt(c, at)
		if !ok {
			return
		}
		j.Key = fmt.Sprintf("cron %s %s", c.name, at.UTC().Format(time.RFC3339))
		j.Digest = engine.Undigested // processes may submit different jobs, e.g. while they are updated one by one
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

// jobAt calls the program's function for the job of an instant. If the function panics, jobAt logs the error and
// returns no job; the schedule continues with the next instant.
func (a *App) jobAt(c cron, at time.Time) (j Job, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			a.options.Logger.Error("the function of a schedule panicked", "cron", c.name, "at", at, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	return c.job(at), true
}
