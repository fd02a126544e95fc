package enginetest

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// Submit submits jobs, and returns their ids in the same order. A job without a kind gets the kind work. The test ends
// if one of them is refused.
func Submit(t testing.TB, l *engine.Loop, jobs ...queue.Job) []int64 {
	t.Helper()
	for i := range jobs {
		jobs[i].Kind = cmp.Or(jobs[i].Kind, kind)
	}
	ids, err := l.Client().Submit(t.Context(), jobs...)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// Jobs returns the jobs with these ids, in this order, as stored now. The test ends if one does not exist.
func Jobs(t testing.TB, l *engine.Loop, ids ...int64) (jobs []*queue.Job) {
	t.Helper()
	for _, id := range ids {
		j, err := l.Client().Job(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// State returns the state of a job.
func State(t testing.TB, l *engine.Loop, id int64) queue.State {
	t.Helper()
	return Jobs(t, l, id)[0].State
}

// Lasting is a handler that runs for the time in the payload of its job, such as 90s, or until its context ends. A
// malformed duration fails the task.
func Lasting(ctx context.Context, lease *queue.Lease) error {
	d, err := time.ParseDuration(string(lease.Job.Payload))
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err()
}

// Endless is a handler that runs until its context ends.
func Endless(ctx context.Context, _ *queue.Lease) error { <-ctx.Done(); return ctx.Err() }

// Shares parses a configuration in YAML. The test ends if it is malformed.
func Shares(t testing.TB, text string) allocation.Config {
	t.Helper()
	c, err := config.Parse("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c.Shares
}
