package views_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/views"
)

// TestTasksNowAreOfThisAttempt: a task runs since the start of its running attempt, even if the job began with an
// earlier attempt.
func TestTasksNowAreOfThisAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := enginetest.Start(t, engine.LoopOptions{}, 2, func(context.Context, *fairlead.Lease) error {
			time.Sleep(10 * time.Second)
			return errors.New("not yet")
		})
		defer stop()
		began := time.Now()
		ids := enginetest.Submit(t, loop, fairlead.Job{User: "acme", Retries: 1, Backoff: 5 * time.Second})
		for _, c := range []struct{ at, since time.Duration }{{5 * time.Second, 0}, {12 * time.Second, -1},
			{20 * time.Second, 15 * time.Second}, {30 * time.Second, -1}} {
			time.Sleep(time.Until(began.Add(c.at)))
			jobs, err := loop.Client().Jobs(t.Context(), fairlead.Query{IDs: ids})
			if err != nil {
				t.Fatal(err)
			}
			now, runs := views.TasksOf(loop, jobs)[ids[0]]
			if runs != (c.since >= 0) || runs && now.Since.Sub(began) != c.since {
				t.Errorf("after %v: %v, runs since %v", c.at, runs, now.Since.Sub(began))
			}
		}
	})
}
