package explain_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/sched"
)

// TestOnlyWhoAsksForARateWaitedForIt: two jobs of a pool wait, the first for a rate. The history of the first says so,
// and the history of the other does not.
func TestOnlyWhoAsksForARateWaitedForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Rates = map[string]sched.Rate{"mail": {Count: 1, Per: time.Hour}}
		loop, ex, stop := remembering(t, o, 1, enginetest.Lasting)
		defer stop()
		one := func(payload string, rates ...string) int64 {
			id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: "physics", Payload: []byte(payload),
				Rates: rates})
			time.Sleep(time.Minute)
			return id[0]
		}
		one("1s", "mail")
		one("2h")
		asks, other := one("1s", "mail"), one("1s")
		codes := func(id int64) (all []string) {
			events, err := ex.History(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				all = append(all, e.Code)
			}
			return all
		}
		if got := codes(asks); !slices.Contains(got, "gate.rate") {
			t.Errorf("the history of the job with the rate is %q", got)
		}
		if got := codes(other); slices.Contains(got, "gate.rate") || !slices.Contains(got, "waits") {
			t.Errorf("the history of the job without it is %q", got)
		}
	})
}
