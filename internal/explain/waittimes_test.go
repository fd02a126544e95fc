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
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// TestWaitReasonsAreAddedUp: a pool waits for a rate for ten minutes, and then for room; after an hour without waiting
// jobs, these times are gone.
func TestWaitReasonsAreAddedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Rates = map[string]sched.Rate{"mail": {Count: 1, Per: 10 * time.Minute}}
		loop, ex, stop := remembering(t, o, 1, enginetest.Lasting)
		defer stop()
		submit := func(pool, payload string, rates ...string) {
			enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: pool, Payload: []byte(payload), Rates: rates})
			time.Sleep(time.Second)
		}
		submit("physics", "1s", "mail")
		submit("physics", "1s", "mail") // ten minutes later
		time.Sleep(5 * time.Minute)
		submit("biology", "10m") // the rate allows starts again before this job has ended
		time.Sleep(15 * time.Minute)
		_, all := ex.WaitReasons(time.Now())
		near(t, all, "physics gate.rate", 10*time.Minute)
		near(t, all, "physics capacity.full", 5*time.Minute)
		if len(all) != 2 {
			t.Errorf("%+v", all)
		}
		time.Sleep(2 * time.Hour)
		if _, all := ex.WaitReasons(time.Now()); len(all) > 0 {
			t.Errorf("two hours later: %+v", all)
		}
	})
}

// TestAllPoolsAreSampled: if more pools wait than one sample reads, the next samples read the others.
func TestAllPoolsAreSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, ex, stop := remembering(t, engine.LoopOptions{}, 1, enginetest.Endless)
		defer stop()
		const pools = 2100
		jobs := make([]fairlead.Job, pools)
		for i := range jobs {
			jobs[i] = fairlead.Job{User: "ann", Pool: fmt.Sprint("p", i)}
		}
		ids := enginetest.Submit(t, loop, jobs...)
		time.Sleep(5 * time.Minute)
		_, all := ex.WaitReasons(time.Now())
		for _, w := range all { // each pool is read by about every second sample
			if off := w.Seconds - (5 * time.Minute).Seconds(); off < -60 || off > 0 {
				t.Errorf("%+v", w)
			}
		}
		if len(all) != pools-1 { // the first runs
			t.Errorf("the reasons of %d pools are known", len(all))
		}
		past, err := ex.History(t.Context(), ids[pools-1])
		if err != nil || len(past) != 2 || past[0].Code != "submitted" || past[1].Code != string(why.ShareBehind) {
			t.Errorf("the history of the last job is %+v, %v", past, err)
		}
	})
}

// near checks the time of a reason, to within a few samples.
func near(t *testing.T, all []explain.WaitReason, name string, want time.Duration) {
	t.Helper()
	for _, w := range all {
		if fmt.Sprint(w.Pool, " ", w.Code) == name {
			if off := w.Seconds - want.Seconds(); off < -30 || off > 30 || strings.TrimSpace(w.Text) == "" {
				t.Errorf("%s: %v, want %v: %q", name, w.Seconds, want, w.Text)
			}
			return
		}
	}
	t.Errorf("no %s: %+v", name, all)
}
