package explain_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// TestQueueTellsOfKeptRoom: while room is planned for a wide job, queue and why give the same reason for the narrow
// jobs that would fit. That also holds when the running tasks have run longer than predicted, and when the last step
// was long ago. The lines of one answer do not contradict each other.
func TestQueueTellsOfKeptRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{Shares: fairlead.DefaultShares()}, 8, enginetest.Lasting)
		defer stop()
		one := func(user string, cpu int64, limit time.Duration) int64 {
			return enginetest.Submit(t, loop, fairlead.Job{User: user, Request: fairlead.Amounts{"cpu": cpu},
				Limit: limit, Payload: []byte("30m")})[0]
		}
		for range 5 {
			one("ann", 1, 0)
		}
		time.Sleep(30 * time.Second)
		wide := one("bob", 8, 0)
		time.Sleep(time.Second)
		narrow := []int64{one("carol", 1, 0), one("dave", 2, 0), one("carol", 1, 0), one("carol", 1, time.Hour)}
		for _, x := range []struct {
			wait             time.Duration
			from, kept, room string
		}{
			{time.Second, "about 00:01:00", "is kept for it on local from about 00:01:00",
				" about 00:01:00, when its planned room is free; at no guaranteed time"},
			{5 * time.Minute, "the end of the tasks that run there", "it starts when the tasks that run there have ended;",
				" when its planned room is free; at no guaranteed time"},
		} {
			time.Sleep(x.wait)
			synctest.Wait()
			short := explain.New(loop).ShortReasons(t.Context(), enginetest.Jobs(t, loop, append(narrow, wide)...))
			if r := short[wide]; r.Text != "room, kept for it" {
				t.Errorf("after %v the wide job waits for %q", x.wait, r.Text)
			}
			for _, id := range narrow {
				r, a := short[id], ask(t, loop, id)
				said, reason := instant.ByClock(r.Text, time.Now()), instant.ByClock(a.Reason.Text, time.Now())
				if r.Code != why.FitReserved || a.Reason.Code != r.Code || said != "room kept for job 6 from "+x.from ||
					!strings.Contains(reason, "room is kept on local for job 6 from "+x.from) {
					t.Errorf("after %v of job %d queue says %s %q, and why %s %q", x.wait, id, r.Code, said,
						a.Reason.Code, reason)
				}
			}
			if text := ask(t, loop, wide).Text(); !strings.Contains(text, x.kept) || !strings.Contains(text,
				"Starts         "+x.room) {
				t.Errorf("after %v of the wide job why says\n%s", x.wait, text)
			}
		}
	})
}

// TestPredictedRoomIsCalledSo: if tasks run without a limit, the planned start follows from how long similar tasks ran.
// why says so, and also says from when nodes will be held for the job.
func TestPredictedRoomIsCalledSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Backfill = sched.EASY
		loop, stop := start(t, o, 4, enginetest.Lasting)
		defer stop()
		one := func(cpus int64, runs string) int64 {
			j := fairlead.Job{User: "ann", Request: fairlead.Amounts{"cpu": cpus}, Payload: []byte(runs)}
			return enginetest.Submit(t, loop, j)[0]
		}
		for range 2 {
			one(3, "8m")
			time.Sleep(9 * time.Minute)
		}
		one(3, "30m") // predicted: 8m
		time.Sleep(time.Minute)
		wide := one(4, "1m")
		one(1, "1m") // this job would fit
		time.Sleep(time.Minute)
		ask := func() *why.Answer {
			t.Helper()
			a, err := forecast.New(loop).Why(t.Context(), wide, explain.WhyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		a := ask()
		if k := a.Kept; k == nil || !k.Predicted || k.Held || k.HeldFrom == nil {
			t.Errorf("room is kept: %+v, want it predicted, and an instant from which nodes are held", k)
		}
		for _, says := range []string{"from about ", "predicted from tasks like"} {
			if !strings.Contains(a.Text(), says) {
				t.Errorf("it does not say %q:\n%s", says, a.Text())
			}
		}
		time.Sleep(25 * time.Minute)
		one(1, "1m")
		time.Sleep(time.Second)
		if a := ask(); a.Kept == nil || !a.Kept.Held || !strings.Contains(a.Text(), "is held for it on") {
			t.Errorf("after the prediction it says\n%s", a.Text())
		}
	})
}

// TestNextIsToldOfHeldRoom: the first of two wide jobs runs on all processors, and room is held for the second. A
// narrow job that is next by its share learns that it does not get all the room that becomes free, and so do the jobs
// behind it.
func TestNextIsToldOfHeldRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root, o.Shares.Sched.Backfill = share.Pool{Policy: "drf"}, sched.EASY
		loop, stop := start(t, o, 4, enginetest.Lasting)
		defer stop()
		add := func(user string, cpus int64) int64 {
			j := fairlead.Job{User: user, Request: fairlead.Amounts{"cpu": cpus}, Limit: time.Minute, Payload: []byte("1m")}
			return enginetest.Submit(t, loop, j)[0]
		}
		var narrow int64
		for range 20 {
			narrow = add("ann", 1)
			time.Sleep(time.Second)
		}
		add("bob", 4)
		second := add("bob", 4)
		time.Sleep(time.Minute)
		a := ask(t, loop, narrow-15)
		want := fmt.Sprintf("apart from the room that is held for job %d on local", second)
		if !strings.Contains(a.Reason.Text, want) {
			t.Errorf("why of the narrow job says %q, want %q:\n%s", a.Reason.Text, want, a.Text())
		}
		behind := ask(t, loop, narrow)
		want = fmt.Sprintf("; room on local is held for job %d, which starts there first", second)
		if behind.Rank.Position < 2 || !strings.HasSuffix(behind.Reason.Text, want) {
			t.Errorf("why of a job behind it says %q, want %q:\n%s", behind.Reason.Text, want, behind.Text())
		}
	})
}
