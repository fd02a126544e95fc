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
