package explain_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// TestPauseBeforeARetryIsShown: while all tasks of a job pause before another attempt, queue and why say so, even if
// nothing runs, and why does not advise a change that would not end the pause.
func TestPauseBeforeARetryIsShown(t *testing.T) {
	for _, backfill := range []sched.Backfill{sched.EASY, sched.Conservative} {
		synctest.Test(t, func(t *testing.T) {
			o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
			o.Shares.Sched.Backfill = backfill
			broken := func(context.Context, *queue.Lease) error { return errors.New("broken") }
			loop, stop := start(t, o, 4, broken)
			defer stop()
			id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Array: "1-6", Request: fairlead.Amounts{"cpu": 2},
				Retries: 2, Backoff: time.Hour})[0]
			time.Sleep(time.Minute)
			short := explain.New(loop).ShortReasons(t.Context(), enginetest.Jobs(t, loop, id))[id]
			if short.Code != why.GateBegin || short.Text != "a pause before its next attempt" {
				t.Errorf("queue says %s %q", short.Code, short.Text)
			}
			a := ask(t, loop, id)
			if a.Reason.Code != why.GateBegin || a.Reason.Next != "wait" || len(a.Changes) > 0 ||
				!strings.HasSuffix(a.Reason.Text, ", because it failed: broken") {
				t.Errorf("why says %+v, with the advice %+v", a.Reason, a.Changes)
			}
			later := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Begin: time.Now().Add(time.Hour)})[0]
			if next := ask(t, loop, later).Reason.Next; !strings.Contains(next, "--begin") {
				t.Errorf("the job with a begin time is told: %s", next)
			}
		})
	}
}
