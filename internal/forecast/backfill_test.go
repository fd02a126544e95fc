package forecast_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// TestBackfillIsExplained: of four cpus three are in use. A job of four waits, and has a planned start. A long job may
// not pass it, and a short one does.
func TestBackfillIsExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Backfill = sched.EASY
		loop, stop := start(t, o, 4, enginetest.Lasting)
		defer stop()
		began := time.Now()
		one := func(cpus int64, limit time.Duration, runs string) int64 {
			id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Request: fairlead.Amounts{"cpu": cpus},
				Limit: limit, Payload: []byte(runs)})[0]
			time.Sleep(time.Second)
			return id
		}
		one(3, 10*time.Minute, "8m")
		wide := one(4, time.Hour, "1m")
		long := one(1, time.Hour, "1m")
		short := one(1, 5*time.Minute, "4m")
		ask := func(id int64) *why.Answer {
			t.Helper()
			a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{Estimate: true})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		if a := ask(short); a.Subject.State != "running" {
			t.Errorf("the short job is %s: %s", a.Subject.State, a.Reason.Text)
		}
		room := began.Add(10 * time.Minute)
		if a := ask(wide); a.Kept == nil || !a.Kept.From.Equal(room) || a.Start == nil || a.Start.By == nil ||
			!a.Start.By.Equal(room) {
			t.Errorf("room for the wide job is %+v, its start %+v, want both at %v", a.Kept, a.Start, room)
		}
		time.Sleep(5 * time.Minute) // the short job has ended: one cpu is free
		a := ask(long)
		if a.Reason.Code != why.FitReserved || !strings.Contains(a.Text(), "fit.reserved") {
			t.Errorf("the long job waits because of %+v", a.Reason)
		}
		if g := a.Gates[len(a.Gates)-1]; g.Kept == nil || g.Kept.Job != wide || !g.Kept.From.Equal(room) {
			t.Errorf("in its way is %+v, want job %d from %v", g.Kept, wide, room)
		}
		if a.Start.By == nil || !a.Start.By.Equal(room.Add(time.Hour)) {
			t.Errorf("it starts by %v, want %v", a.Start.By, room.Add(time.Hour))
		}
		if r := a.Start; r.Replays == 0 || r.Early.Before(a.At) || r.Late.After(*r.By) {
			t.Errorf("in replays it starts from %v to %v, by %v at the latest", r.Early, r.Late, r.By)
		}
	})
}
