package forecast_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// TestLikelyStarts: without time limits, lists name likely starts, marked as predicted, for all jobs. If the tasks run
// as long as earlier ones, the jobs start then. As long as the run times of tasks are unknown, lists name none.
func TestLikelyStarts(t *testing.T) {
	for _, policyName := range []string{"fair", "fairtree"} {
		for _, backfill := range []sched.Backfill{sched.FirstFit, sched.EASY, sched.Conservative} {
			t.Run(fmt.Sprintf("%s+%v", policyName, backfill), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { likelyStarts(t, policyName, backfill) })
			})
		}
	}
}

func likelyStarts(t *testing.T, policyName string, backfill sched.Backfill) {
	loop, stop := ordered(t, policyName, backfill)
	defer stop()
	var ids []int64
	for _, user := range []string{"ann", "bob"} {
		for range 12 {
			ids = append(ids, enginetest.Submit(t, loop, fairlead.Job{User: user,
				Request: fairlead.Amounts{"cpu": 1}, Payload: []byte("20s")})...)
		}
		time.Sleep(time.Second)
	}
	wide := enginetest.Submit(t, loop, fairlead.Job{User: "bob", Request: fairlead.Amounts{"cpu": 2},
		Payload: []byte("20s")})[0]
	fc := forecast.New(loop)
	if got := fc.Starts(t.Context(), enginetest.Jobs(t, loop, ids[5])); len(got) > 0 && !got[ids[5]].Kept {
		t.Errorf("a start is named although nobody knows how long tasks run: %+v", got)
	}
	time.Sleep(50 * time.Second)
	said := fc.Starts(t.Context(), enginetest.Jobs(t, loop, append(ids, wide)...))
	if len(said) < 10 {
		t.Fatalf("only %d starts are named", len(said))
	}
	time.Sleep(10 * time.Minute)
	for id, s := range said {
		at := startOf(t, loop, id)
		if !s.Predicted {
			t.Errorf("job %d: the start %v is not marked as predicted", id, s.By)
		}
		if off := at.Sub(s.By); id != wide && (off < -time.Second || off > time.Second) {
			t.Errorf("job %d starts %v after the likely start %v", id, off, s.By.Format(time.TimeOnly))
		}
	}
}

// startOf returns when the only task of a job started.
func startOf(t *testing.T, loop *engine.Loop, id int64) time.Time {
	t.Helper()
	tasks, err := loop.Store.Tasks(t.Context(), id)
	if err != nil || len(tasks) != 1 || tasks[0].State != queue.Succeeded {
		t.Fatalf("tasks of job %d: %+v, %v", id, tasks, err)
	}
	return tasks[0].Started
}
