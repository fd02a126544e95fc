package fairlead

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// chosenStop is a running task that the core wants to be ended early.
type chosenStop struct {
	id   taskID
	run  sched.RunID
	stop Stopped
}

// chosenStops finds the attempts behind the stops of a decision.
func (l *Loop) chosenStops(d *sched.Decision) []chosenStop {
	if len(d.Stops) == 0 {
		return nil
	}
	byRun := make(map[sched.RunID]*sched.Stop, len(d.Stops))
	for i := range d.Stops {
		byRun[d.Stops[i].Run] = &d.Stops[i]
	}
	found := make(map[sched.RunID]chosenStop, len(d.Stops))
	for id, r := range l.runs {
		if s := byRun[r.run]; s != nil {
			found[r.run] = chosenStop{id, r.run, Stopped{r.ref, l.stopReason(r, s)}}
		}
	}
	var all []chosenStop
	for i := range d.Stops {
		if c, ok := found[d.Stops[i].Run]; ok {
			all = append(all, c)
		} else { // its start is not known to the store yet
			l.core.Spare(d.Stops[i].Run)
		}
	}
	return all
}

// stopReason tells a stop for people and programs.
func (l *Loop) stopReason(r *liveRun, s *sched.Stop) why.Stop {
	c := l.core.Cluster()
	return why.Stop{
		At: l.core.Instant(), Rule: string(s.Rule), Job: r.ref.JobID, Task: r.ref.Task, Attempt: r.ref.Attempt,
		User: r.header.User, Pool: r.header.Pool, Node: r.holder, Unit: c.Unit(),
		For: l.core.Path(s.For), Resource: c.Resource(s.Resource), Running: s.Running, Goal: s.Goal,
		Since: s.Since, Owed: s.Owed, Next: s.Next,
		From: l.core.Path(s.From), FromRunning: s.FromRunning, FromGoal: s.FromGoal,
		Choice: s.Choice, Together: s.Together, Width: s.Width, Seconds: s.Elapsed.Seconds(), Lost: s.Lost, Safe: s.Safe,
	}
}

// stopRuns has the store keep the stops. It tells the holders by way of its changes, so
// that they are told however many servers there are, and again after a restart.
func (l *Loop) stopRuns(ctx context.Context, chosen []chosenStop) error {
	if len(chosen) == 0 {
		return nil
	}
	stops := make([]Stopped, len(chosen))
	for i := range chosen {
		stops[i] = chosen[i].stop
	}
	errs, err := l.store.StopRuns(ctx, stops)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range chosen {
		switch r := l.runs[c.id]; {
		case err == nil && errs[i] == nil:
			l.stats.stopped(&c.stop.Reason)
			l.log.Info("task is stopped for others", "job", c.id.job, "task", c.id.task, "rule", c.stop.Reason.Rule, "for", c.stop.Reason.For, "lost_seconds", c.stop.Reason.Lost)
		case r != nil && r.run == c.run:
			l.core.Spare(c.run)
		}
	}
	if err != nil {
		return fmt.Errorf("stop tasks: %w", err)
	}
	l.poke()
	return nil
}

// Stops returns the attempts that were ended early so that others got their room,
// oldest first.
func (l *Loop) Stops(ctx context.Context, q StopQuery) ([]Stopped, error) {
	return l.store.Stops(ctx, q)
}

// protect lets the core know which jobs are safe, from before it was made.
func (l *Loop) protect(stops []Stopped) {
	for i := range stops {
		l.core.Protect(stops[i].Ref.JobID, stops[i].Reason.Safe)
	}
}

// lastStop is the stop of a job of which something waits again since, and has not
// started again.
func lastStop(stops []Stopped, tasks []Task) *why.Stop {
	for _, x := range slices.Backward(stops) {
		i := slices.IndexFunc(tasks, func(t Task) bool { return t.Index == x.Ref.Task })
		if i >= 0 && tasks[i].Attempt == x.Ref.Attempt && tasks[i].State == Waiting {
			return &x.Reason
		}
	}
	return nil
}

// stopsKept is how far back the stops of a job are looked for that explain why it waits.
const stopsKept = 64

// stopOf is the latest stop of a job that waits for it.
func (l *Loop) stopOf(ctx context.Context, j *Job, tasks []Task) (*why.Stop, error) {
	if j.State.Ended() || len(tasks) == 0 {
		return nil, nil
	}
	stops, err := l.store.Stops(ctx, StopQuery{Job: j.ID, Limit: stopsKept})
	return lastStop(stops, tasks), err
}

// safeSince is how far back stops are read when the core is made: no grace period is
// longer.
func (l *Loop) safeSince() time.Time { return time.Now().Add(-l.shares.Sched.Reclaim.Grace) }
