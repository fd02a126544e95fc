package forecast_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// TestListsAndWhyNameOneStart: whatever the order of the jobs, and however it changes as tasks start and end, the list
// of jobs names the same latest start for a job as why.
func TestListsAndWhyNameOneStart(t *testing.T) {
	for _, policyName := range []string{"fair", "deficit", "load"} {
		for _, backfill := range []sched.Backfill{sched.EASY, sched.Conservative} {
			t.Run(fmt.Sprintf("%s+%v", policyName, backfill), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { contestOfStarts(t, policyName, backfill) })
			})
		}
	}
}

// contestOfStarts compares both starts while narrow tasks of one user and wide jobs of another share a machine.
func contestOfStarts(t *testing.T, policyName string, backfill sched.Backfill) {
	loop, stop := ordered(t, policyName, backfill)
	defer stop()
	var ids []int64
	for i := range 4 {
		length := time.Duration(20+9*i) * time.Second
		ids = append(ids, enginetest.Submit(t, loop, fairlead.Job{User: "ann", Array: "1-10",
			Limit: length + time.Second, Request: fairlead.Amounts{"cpu": 1}, Payload: []byte(length.String())})...)
	}
	time.Sleep(30 * time.Second)
	for range 3 {
		ids = append(ids, enginetest.Submit(t, loop, fairlead.Job{User: "bob", Limit: 40 * time.Second,
			Request: fairlead.Amounts{"cpu": 4}, Payload: []byte("30s")})...)
	}
	fc, compared := forecast.New(loop), 0
	for range 2 {
		time.Sleep(26 * time.Second)
		jobs := enginetest.Jobs(t, loop, ids...)
		starts := fc.Starts(t.Context(), jobs)
		for _, j := range jobs {
			if j.State.Ended() || j.Waiting == 0 {
				continue
			}
			a := ask(t, loop, j.ID)
			listed, known := starts[j.ID]
			if !known || a.Start == nil || a.Start.By == nil {
				t.Errorf("job %d: the list says %v, and why %+v", j.ID, listed, a.Start)
				continue
			}
			checkRoom(t, a)
			if compared++; !listed.By.Equal(*a.Start.By) {
				t.Errorf("job %d starts by %v in the list, and by %v in why", j.ID, listed.By.Format(time.TimeOnly),
					a.Start.By.Format(time.TimeOnly))
			}
		}
	}
	if compared < 10 {
		t.Errorf("only %d starts were compared", compared)
	}
}

// checkRoom checks that the room that is kept for a job does not contradict its start.
func checkRoom(t *testing.T, a *why.Answer) {
	t.Helper()
	k := a.Kept
	if k == nil {
		return
	}
	text := k.Text(a.At)
	switch later := a.Start.By.Sub(k.From); {
	case k.Tentative():
		if strings.Contains(text, ":") {
			t.Errorf("job %d starts by %v, and the plan that will change names an instant: %s", a.Subject.Job, a.Start.By, text)
		}
	case !k.Predicted && later >= time.Second && !strings.Contains(text, instant.Clock(*a.Start.By, a.At, k.From)):
		t.Errorf("job %d starts by %v, and its room says: %s", a.Subject.Job, a.Start.By, text)
	}
}
