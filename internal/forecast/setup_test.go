package forecast_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// watch lets an explainer record the reasons for which the pools of a loop wait, as in a server.
func watch(l *engine.Loop) { explain.New(l).Remember() }

// start does the same as enginetest.Start, with a call of watch.
func start(t *testing.T, o engine.LoopOptions, slots int, h engine.HandlerFunc) (*engine.Loop, func()) {
	t.Helper()
	return enginetest.Start(t, o, slots, h, watch)
}

// ordered returns a machine of four processors under a policy and a backfill rule.
func ordered(t *testing.T, policyName string, backfill sched.Backfill) (loop *engine.Loop, stop func()) {
	t.Helper()
	o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
	o.Shares.Sched.Root, o.Shares.Sched.Backfill = share.Pool{Policy: policyName}, backfill
	return start(t, o, 4, enginetest.Lasting)
}

// backfilled is a machine of four processors under EASY: three of them are in use for ten minutes, and a job that waits
// for all four has its planned start then. Other jobs are submitted after that.
func backfilled(t *testing.T, root share.Pool) (loop *engine.Loop, one func(fairlead.Job) int64, began time.Time,
	stop func()) {
	o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
	o.Shares.Sched.Root = root
	o.Shares.Sched.Backfill = sched.EASY
	loop, stop = start(t, o, 4, enginetest.Lasting)
	began = time.Now()
	one = func(j fairlead.Job) int64 {
		if j.Payload == nil {
			j.Payload = []byte("1m")
		}
		id := enginetest.Submit(t, loop, j)[0]
		time.Sleep(time.Second)
		return id
	}
	one(fairlead.Job{User: "ann", Request: fairlead.Amounts{"cpu": 3}, Limit: 10 * time.Minute, Payload: []byte("10m")})
	one(fairlead.Job{User: "ann", Request: fairlead.Amounts{"cpu": 4}, Limit: time.Hour})
	return loop, one, began, stop
}

// ask asks why about a job, with an estimate.
func ask(t *testing.T, loop *engine.Loop, id int64) *why.Answer {
	t.Helper()
	a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{Estimate: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
