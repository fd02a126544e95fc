package main

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

// report prints the result of the submission, and waits for the job if requested.
func (s *submission) report(ctx context.Context, client *api.Client, r *api.Submitted) error {
	if !s.json {
		plain.Lines(r)
	}
	switch {
	case s.json:
		if err := s.printJSON(r); err != nil {
			return err
		}
	case s.parsable:
		if _, err := fmt.Fprintln(s.out, r.ID); err != nil {
			return fmt.Errorf("job %d was submitted, but its number could not be written: %w", r.ID, err)
		}
	default:
		s.print(r)
	}
	if r.Warning != "" && !s.json {
		fmt.Fprintln(s.errs, "warning:", instant.ByClock(r.Warning, time.Now()))
	}
	if r.Hint != "" && s.options.Limit == "" && s.terminal() && !s.json && !s.parsable {
		fmt.Fprintln(s.errs, "hint:", r.Hint)
	}
	if !s.wait || s.dryRun {
		return nil
	}
	return s.waitFor(ctx, client, r.ID)
}

func (s *submission) print(r *api.Submitted) {
	what := fmt.Sprintf("job %d", r.ID)
	verb := "queued"
	if s.dryRun {
		what, verb = "the job", "would be queued"
	}
	if r.Existing {
		fmt.Fprintf(s.out, "job %d was submitted before, under the key %s\n", r.ID, s.options.Key)
		return
	}
	line := fmt.Sprintf("%s %s in %s (user %s)", what, verb, words.Pool(r.Pool), r.User)
	switch {
	case s.options.Nodes > 1:
		line += fmt.Sprintf(", on %d nodes at once", r.Tasks)
	case s.options.Tasks > 1:
		line += fmt.Sprintf(", %d tasks at once", r.Tasks)
	case r.Tasks > 1:
		line += fmt.Sprintf(", %d tasks", r.Tasks)
	}
	if r.LimitSeconds > 0 && s.options.Limit == "" {
		line += fmt.Sprintf(", time limit %s", words.Limit(r.LimitSeconds))
	}
	switch {
	case s.options.Hold && s.dryRun:
		line += ": held until it is released"
	case s.options.Hold:
		line += fmt.Sprintf(": held; to release it: fairlead release %d", r.ID)
	case r.Rank == 1:
		line += ": it is next"
	case r.Rank > 0:
		line += fmt.Sprintf(": number %d of %d", r.Rank, r.Of)
	}
	fmt.Fprintln(s.out, line+s.starts(r.Start, time.Now()))
	if r.Reason != nil && r.Reason.Text != r.Warning && r.Rank != 1 && !s.options.Hold && !startsSoon(r.Start, time.Now()) {
		fmt.Fprintf(s.out, "  %s", instant.ByClock(r.Reason.Text, time.Now()))
		if !s.dryRun {
			fmt.Fprintf(s.out, "    (fairlead why %d)", r.ID)
		}
		fmt.Fprintln(s.out)
	}
	s.prospect(r, time.Now())
}

// starts writes when the job starts, for the end of a line.
func (s *submission) starts(e *why.Estimate, now time.Time) string {
	if e == nil || e.By == nil {
		return ""
	}
	where := ""
	if s.dryRun && e.Node != "" {
		where = " on " + e.Node
	}
	if left := e.By.Sub(now); !startsSoon(e, now) {
		return fmt.Sprintf("; starts by %s (in %s)%s %s", instant.Clock(*e.By, now), why.Duration(left), where, e.Provided())
	}
	if s.dryRun {
		return "; it would start now" + where
	}
	return ""
}

// startsSoon reports whether a job starts within a second.
func startsSoon(e *why.Estimate, now time.Time) bool {
	return e != nil && e.By != nil && e.By.Sub(now) < time.Second
}

// prospect prints more about the start of the job, and a time limit with which it would start at once.
func (s *submission) prospect(r *api.Submitted, now time.Time) {
	if e := r.Start; s.dryRun && e != nil {
		switch {
		case e.Replays > 0 && e.Late.After(now):
			fmt.Fprintf(s.out, "  %s\n", e.InReplays(now))
		case e.By == nil && e.Text != "":
			fmt.Fprintf(s.out, "  starts %s\n", instant.ByClock(e.Text, now))
		}
	}
	for _, c := range r.Changes {
		limit := units.UsualLimit(time.Duration(c.LimitSeconds * float64(time.Second)))
		if c.Now && limit > 0 {
			was := "no time limit"
			if r.LimitSeconds > 0 {
				was = words.Limit(r.LimitSeconds)
			}
			fmt.Fprintf(s.out, "  it would start NOW if it asked for %s instead of %s\n",
				units.FormatDuration(limit), was)
		}
	}
}

// waitFor waits for the end of a job and returns its status as an exit.
func (a *app) waitFor(ctx context.Context, client *api.Client, id int64) error {
	for {
		j, err := client.Jobs.Tasks(ctx, id, -1, 0)
		if err == nil && words.Done(j.Job.State) {
			if j, err = client.Jobs.Get(ctx, id); err == nil {
				a.sayHowEnded(&j.Job)
				return statusOf(j)
			}
		}
		if err != nil {
			return err
		}
		if !wait.For(ctx, 200*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// sayHowEnded describes the end of a job that did not succeed, and names the file of its output.
func (a *app) sayHowEnded(j *api.Job) {
	if j.State == "succeeded" {
		return
	}
	how := j.State
	if j.Cause != "" {
		how += ": " + plain.Line(j.Cause)
	}
	fmt.Fprintf(a.errs, "job %d %s\nsee: fairlead logs %d\n", j.ID, how, j.ID)
}

// statusOf returns the exit status for the end of a job: the status of its first failed task, or 1.
func statusOf(j *api.JobResponse) error {
	if j.Job.State == "succeeded" {
		return nil
	}
	for _, t := range j.Tasks {
		if t.State == "failed" && t.ExitCode > 0 {
			return exit(t.ExitCode)
		}
	}
	return exit(api.ExitRefused)
}
