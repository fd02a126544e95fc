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

// TestListsAndWhyNameOneStart: whatever the order of the jobs is, and however it changes as tasks start and end, the
// list of jobs and why name the same start for a job: the latest one if all tasks have time limits, and otherwise a
// likely one.
func TestListsAndWhyNameOneStart(t *testing.T) {
	for limits, policies := range map[bool][]string{
		true:  {"fair", "deficit", "load"},
		false: {"fair", "fairtree", "fifo"},
	} {
		for _, policyName := range policies {
			for _, backfill := range []sched.Backfill{sched.EASY, sched.Conservative} {
				t.Run(fmt.Sprintf("%s+%v, limits %v", policyName, backfill, limits), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { contestOfStarts(t, policyName, backfill, limits) })
				})
			}
		}
	}
}

// contestOfStarts compares both starts while narrow tasks of one user and wide jobs of another share a machine.
func contestOfStarts(t *testing.T, policyName string, backfill sched.Backfill, limits bool) {
	loop, stop := ordered(t, policyName, backfill)
	defer stop()
	submit := func(j fairlead.Job, length, limit time.Duration) []int64 {
		j.Payload = []byte(length.String())
		if limits {
			j.Limit = limit
		}
		return enginetest.Submit(t, loop, j)
	}
	var ids []int64
	for i := range 4 {
		length := 20 * time.Second
		if limits {
			length += time.Duration(9*i) * time.Second
		}
		ids = append(ids, submit(fairlead.Job{User: "ann", Array: "1-10", Request: fairlead.Amounts{"cpu": 1}},
			length, length+time.Second)...)
	}
	time.Sleep(30 * time.Second)
	for range 3 {
		ids = append(ids, submit(fairlead.Job{User: "bob", Request: fairlead.Amounts{"cpu": 4}}, 30*time.Second,
			40*time.Second)...)
	}
	ids = append(ids, submit(fairlead.Job{User: "carol", Request: fairlead.Amounts{"cpu": 1},
		Begin: time.Now().Add(2 * time.Minute)}, 20*time.Second, 21*time.Second)...)
	fc, compared := forecast.New(loop), 0
	for range 2 {
		time.Sleep(26 * time.Second)
		jobs := enginetest.Jobs(t, loop, ids...)
		starts := fc.Starts(t.Context(), jobs)
		for _, j := range jobs {
			if j.State.Ended() || j.Waiting == 0 {
				continue
			}
			listed, known := starts[j.ID]
			compared++
			compareStarts(t, ask(t, loop, j.ID), listed, known, limits)
		}
	}
	if compared < 10 {
		t.Errorf("only %d starts were compared", compared)
	}
}

// compareStarts compares the starts of a job in the list of jobs and in why.
func compareStarts(t *testing.T, a *why.Answer, listed forecast.Coming, known, limits bool) {
	t.Helper()
	job, clock := a.Subject.Job, listed.By.Format(time.TimeOnly)
	switch {
	case a.Start == nil || (a.Start.By != nil) != (known && !listed.Predicted) || limits && a.Start.By == nil:
		t.Errorf("job %d: the list says %v, and why %+v", job, listed, a.Start)
	case a.Start.By != nil:
		checkRoom(t, a, *a.Start.By)
		if !listed.By.Equal(*a.Start.By) {
			t.Errorf("job %d starts by %v in the list, and by %v in why", job, clock, a.Start.By.Format(time.TimeOnly))
		}
	case known && a.Start.Middle != nil && !strings.Contains(a.Start.Text, "about"):
		checkRoom(t, a, *a.Start.Early) // if some replays start it later, that does not contradict the planned start
		if listed.By.Before(a.Start.Early.Add(-time.Second)) || listed.By.After(a.Start.Late.Add(time.Second)) {
			t.Errorf("job %d starts at about %v in the list, and from %v to %v in why", job, clock,
				a.Start.Early.Format(time.TimeOnly), a.Start.Late.Format(time.TimeOnly))
		}
	case known && !strings.Contains(a.Start.Text, clock):
		t.Errorf("job %d starts at about %v in the list, and why says %q", job, clock, a.Start.Text)
	case !known && strings.Contains(a.Start.Text, "about"):
		t.Errorf("job %d: the list names no start, and why says %q", job, a.Start.Text)
	}
}

// checkRoom checks that the planned start of a job does not contradict its estimate.
func checkRoom(t *testing.T, a *why.Answer, at time.Time) {
	t.Helper()
	k := a.Kept
	if k == nil {
		return
	}
	text := k.Text(a.At)
	switch later := at.Sub(k.From); {
	case k.Tentative():
		if strings.Contains(text, ":") {
			t.Errorf("job %d starts at %v, and the plan, which will change, names an instant: %s",
				a.Subject.Job, at, text)
		}
	case later >= time.Second && !k.Overdue && !strings.Contains(text, instant.Clock(at, a.At, k.From)):
		t.Errorf("job %d starts at %v, and its room says: %s", a.Subject.Job, at, text)
	}
}
