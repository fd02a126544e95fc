package main

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// tell says what became of the job, and waits for it if asked to.
func (s *submission) tell(ctx context.Context, client *api.Client, r *api.Submitted) error {
	switch {
	case s.json:
		if err := s.printJSON(r); err != nil {
			return err
		}
	case s.parsable:
		fmt.Fprintln(s.out, r.ID)
	default:
		s.print(r)
	}
	if r.Warning != "" && !s.json {
		fmt.Fprintln(s.errs, "warning:", r.Warning)
	}
	if r.Hint != "" && s.limit == "" && s.terminal() && !s.json && !s.parsable {
		fmt.Fprintln(s.errs, "hint:", r.Hint)
	}
	if !s.wait || s.dryRun {
		return nil
	}
	return waitFor(ctx, client, r.ID)
}

func (s *submission) print(r *api.Submitted) {
	what := fmt.Sprintf("job %d", r.ID)
	verb := "queued"
	if s.dryRun {
		what, verb = "the job", "would be queued"
	}
	if r.Existing {
		fmt.Fprintf(s.out, "%s was submitted before, under the key %s\n", what, s.key)
		return
	}
	line := fmt.Sprintf("%s %s in %s (user %s)", what, verb, r.Pool, r.User)
	switch {
	case s.nodes > 1:
		line += fmt.Sprintf(", on %d nodes at once", r.Tasks)
	case s.tasks > 1:
		line += fmt.Sprintf(", %d tasks at once", r.Tasks)
	case r.Tasks > 1:
		line += fmt.Sprintf(", %d tasks", r.Tasks)
	}
	if r.LimitSeconds > 0 && s.limit == "" {
		line += fmt.Sprintf(", time limit %s", limitText(r.LimitSeconds))
	}
	switch {
	case s.hold:
		line += fmt.Sprintf(": held; let it go with: fairlead release %d", r.ID)
	case r.Rank == 1:
		line += ": it is next"
	case r.Rank > 0:
		line += fmt.Sprintf(": number %d of %d", r.Rank, r.Of)
	}
	fmt.Fprintln(s.out, line)
	if r.Reason != nil && r.Rank != 1 && !s.hold {
		fmt.Fprintf(s.out, "  %s", r.Reason.Text)
		if !s.dryRun {
			fmt.Fprintf(s.out, "    (fairlead why %d)", r.ID)
		}
		fmt.Fprintln(s.out)
	}
}

// waitFor waits for the end of a job and returns its status as an exit.
func waitFor(ctx context.Context, client *api.Client, id int64) error {
	for {
		j, err := client.Job(ctx, id)
		if err != nil {
			return err
		}
		if done(j.Job.State) {
			return statusOf(j)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// done reports whether a job has ended.
func done(state string) bool {
	return state == "succeeded" || state == "failed" || state == "cancelled"
}

// statusOf is the exit status that stands for how a job ended: that of its first task
// that failed, or 1.
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
