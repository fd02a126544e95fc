package forecast_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// TestWhySaysWhatAPlannedStartIs: under conservative backfilling and fifo a planned start is a promise, whoever submits
// jobs later. Under fair it moves to later when a user with less usage submits jobs, and why says that it may move.
func TestWhySaysWhatAPlannedStartIs(t *testing.T) {
	for policyName, want := range map[string]struct {
		text  string
		later bool
	}{
		"fifo": {"because room is kept for it from then", false},
		"fair": {"if the order of the waiting jobs stays as it is", true},
	} {
		t.Run(policyName, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				loop, stop := ordered(t, policyName, sched.Conservative)
				defer stop()
				one := func(user string) int64 {
					id := enginetest.Submit(t, loop, fairlead.Job{User: user, Request: fairlead.Amounts{"cpu": 4},
						Limit: time.Hour, Payload: []byte("50m")})[0]
					time.Sleep(time.Second)
					return id
				}
				ask := func(id int64) *why.Answer {
					a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{Estimate: true})
					if err != nil || a.Start == nil || a.Start.By == nil || !a.Start.Kept {
						t.Fatalf("job %d: %+v, %v", id, a, err)
					}
					return a
				}
				one("ann")
				waits := one("ann")
				before := ask(waits)
				if before.Start.MayMove != want.later || !strings.Contains(before.Text(), want.text) {
					t.Errorf("why says %+v:\n%s", before.Start, before.Text())
				}
				one("bob")
				if after := ask(waits); after.Start.By.After(*before.Start.By) != want.later {
					t.Errorf("the planned start was %v and is %v", before.Start.By, after.Start.By)
				}
			})
		})
	}
}
