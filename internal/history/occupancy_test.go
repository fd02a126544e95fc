package history_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// TestEndsOfAttempts: the past of a node has each attempt with its own end, even if the task has run again since.
func TestEndsOfAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := func(_ context.Context, lease *queue.Lease) error {
			if time.Sleep(time.Minute); lease.Attempt == 1 {
				return errors.New("no such file\nat line 3")
			}
			return nil
		}
		loop, rc, stop := recorded(t, memory.New("cpu"), engine.LoopOptions{}, 1, handler)
		defer stop()
		enginetest.Submit(t, loop, queue.Job{User: "ann", Retries: 1})
		time.Sleep(time.Hour)
		got := rc.EndedTasks([]string{"local"}, time.Now().Add(-2*time.Hour))
		if len(got) != 2 || got[0].State != "failed" || got[0].Cause != "no such file" || got[1].State != "succeeded" ||
			got[1].Cause != "" {
			t.Errorf("the attempts ended so: %+v", got)
		}
	})
}
