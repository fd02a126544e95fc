package explain

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// TestReasonsOfAnEarlierJob: a reason for which a pool waited before a job came counts for that job only if the pool
// still waited for it then.
func TestReasonsOfAnEarlierJob(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	r := recording()
	rate := why.Reason{Code: why.GateRate, Text: "rate mail 5/s, burst 5"}
	full := why.Reason{Code: why.CapacityFull, Text: "the pool is next; everything is in use"}
	r.lead(ann, 7, at(0))
	last := at(0)
	for _, s := range []int{2, 4, 20, 22, 24} { // the pools are sampled every two seconds; from 4 to 20 no job waits
		before := last
		if s == 20 {
			before = at(18)
		}
		reason := rate
		if s == 24 {
			reason = full
		}
		r.note(ann, reason, "", before, at(s))
		last = at(s)
	}
	for _, c := range []struct {
		submitted, started int
		want               []string
	}{
		{1, 5, []string{"gate.rate"}},
		{3, 5, []string{"gate.rate"}}, // it came while another job waited for the rate, and then waited itself
		{10, 10, nil},
		{19, 25, []string{"gate.rate", "capacity.full"}},
		{23, 25, []string{"capacity.full"}},
		{30, 31, nil},
	} {
		var got []string
		for _, e := range r.since(&queue.Job{ID: 7, Pool: "ann", Submitted: at(c.submitted), Started: at(c.started)}, nil) {
			got = append(got, e.Code)
			if e.Job != 7 || e.At.Before(at(c.submitted)) {
				t.Errorf("submitted at %d: %+v", c.submitted, e)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("submitted at %d, started at %d: %v, want %v", c.submitted, c.started, got, c.want)
		}
	}
}

// TestReasonsOfAnotherJob: a job did not wait for a license or rate that it does not ask for. Its earlier reason ends
// when its pool begins to wait for such a license or rate.
func TestReasonsOfAnotherJob(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	r := recording()
	r.lead(ann, 7, at(0))
	r.note(ann, why.Reason{Code: why.CapacityFull, Text: "the pool is next; everything is in use"}, "", at(0), at(2))
	r.note(ann, why.Reason{Code: why.GateRate, Text: "rate mail 5/s, burst 5"}, "rate mail", at(2), at(4))
	r.note(ann, why.Reason{Code: why.GateLicense, Text: "license abaqus 1/1 used"}, "license abaqus", at(4), at(6))
	r.note(ann, why.Reason{Code: why.GateLicense, Text: "license abaqus 1/1 used"}, "license abaqus", at(6), at(8))
	for name, c := range map[string]struct {
		job  queue.Job
		want []string
	}{
		"neither":      {queue.Job{}, []string{"capacity.full", "waits", "waits"}},
		"the rate":     {queue.Job{Rates: []string{"mail"}}, []string{"capacity.full", "gate.rate", "waits"}},
		"another rate": {queue.Job{Rates: []string{"post"}}, []string{"capacity.full", "waits", "waits"}},
		"the license": {
			queue.Job{Licenses: queue.Amounts{"abaqus": 1}}, []string{"capacity.full", "waits", "gate.license"}},
		"neither, late": {queue.Job{Submitted: at(7)}, []string{"waits"}},
	} {
		c.job.ID, c.job.Pool = 7, "ann"
		var got []string
		for _, e := range r.since(&c.job, nil) {
			got = append(got, e.Code)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("a job with %s: %q, want %q", name, got, c.want)
		}
	}
}

// TestReasonsOfFormerLives: while a job ran, and after it had ended, it waited for nothing, even if its pool waited. A
// reason that still holds when the job is requeued counts from then on.
func TestReasonsOfFormerLives(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	event := func(s int, code string) queue.Event { return queue.Event{Task: -1, At: at(s), Code: code} }
	r := recording()
	r.lead(ann, 7, at(0))
	for s, code := range []why.Code{why.ShareBehind, why.ShareBehind, why.GateMax, why.GateMaxTasks, why.CapacityFull,
		why.CapacityFull, why.CapacityFull, why.ShareBehind} {
		r.note(ann, why.Reason{Code: code}, "", at(10*s-10), at(10*s))
	}
	lives := formerLives([]queue.Event{
		event(0, "submitted"), event(15, "started"), event(25, "finished"), event(25, queue.EventEnded), event(45, "requeue"),
		event(62, "started"), event(64, "requeue"), // the requeue comes while it runs, so it had not ended
	})
	var got []string
	for _, e := range r.since(&queue.Job{ID: 7, Pool: "ann", Submitted: at(0)}, lives) {
		got = append(got, fmt.Sprint(e.Code, " ", e.At.Sub(begin).Seconds()))
	}
	if want := []string{"share.behind 0", "capacity.full 45", "share.behind 70"}; !slices.Equal(got, want) {
		t.Errorf("it waited for %q, want %q", got, want)
	}
}

// TestEventsOfARequeuedTask: a task that has waited since its job was requeued has no start among its events, and no
// event with the zero time.
func TestEventsOfARequeuedTask(t *testing.T) {
	if events := (&queue.Task{Job: 1, Attempt: 1, State: queue.Waiting}).Events(); len(events) != 0 {
		t.Errorf("it tells %+v", events)
	}
}

// TestLimitOf: limitOf returns the license or rate whose gate is closed.
func TestLimitOf(t *testing.T) {
	gates := []why.Gate{
		{Name: "rate mail", Where: "rates", Open: true}, {Name: "rate post", Where: "rates", Code: why.GateRate},
		{Name: "license abaqus", Where: "licenses", Code: why.GateLicense}, {Name: "max_running", Where: "ann",
			Code: why.GateMaxTasks},
	}
	for code, want := range map[why.Code]string{why.GateRate: "rate post", why.GateLicense: "license abaqus",
		why.GateMaxTasks: "", why.CapacityFull: ""} {
		if got := limitOf(gates, code); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

var ann = leafOf{pool: "ann"}

// recording returns an empty record.
func recording() *reasons {
	return &reasons{pool: map[leafOf][]waited{}, heads: map[leafOf][]head{}}
}

// TestReasonsOfTheFirstJob: the reason of the first job of a pool does not count for the jobs behind it until they are
// first; the reason of a pool counts for all its jobs.
func TestReasonsOfTheFirstJob(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	r, leaf := recording(), leafOf{pool: "ann"}
	for i, s := range []struct {
		first int64
		why.Reason
	}{
		{1, why.Reason{Code: why.ShareBehind, Text: "other pools go before it"}},
		{1, why.Reason{Code: why.FitNow, Text: "no node has room for its first job"}},
		{2, why.Reason{Code: why.FitNow, Text: "no node has room for its first job"}},
		{2, why.Reason{Code: why.FitNever, Text: "no node is large enough"}},
		{3, why.Reason{Code: why.CapacityFull, Text: "the pool is next; everything is in use"}},
	} {
		r.lead(leaf, s.first, at(10*i))
		r.note(leaf, s.Reason, "", at(10*i-10), at(10*i))
	}
	for id, want := range map[int64][]string{
		1: {"0 share.behind other pools go before it", "10 fit.now no node has room for it",
			"20 order.behind behind other jobs of its pool; no node has room for the first of them",
			"30 waits its own reason is not recorded; the reason of the first job of its pool: no node is large enough",
			"40 order.behind behind other jobs of its pool; everything is in use"},
		2: {"0 share.behind other pools go before it",
			"10 order.behind behind other jobs of its pool; no node has room for the first of them",
			"20 fit.now no node has room for it", "30 fit.never no node is large enough",
			"40 order.behind behind other jobs of its pool; everything is in use"},
		3: {"0 share.behind other pools go before it",
			"10 order.behind behind other jobs of its pool; no node has room for the first of them",
			"30 waits its own reason is not recorded; the reason of the first job of its pool: no node is large enough",
			"40 capacity.full it is next; everything is in use"},
	} {
		var got []string
		for _, e := range r.since(&queue.Job{ID: id, Pool: "ann", Submitted: at(0)}, nil) {
			got = append(got, fmt.Sprint(e.At.Sub(begin).Seconds(), " ", e.Code, " ", e.Text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("job %d:\n%q, want\n%q", id, got, want)
		}
	}
}

// TestReasonOfAJobAtItsMaximum: the reason of a job at its own maximum of running tasks is a sentence.
func TestReasonOfAJobAtItsMaximum(t *testing.T) {
	g := why.Gate{Code: why.GateJobTasks, Name: "max_running", Where: "job", Used: "3", Limit: "3"}
	if got, want := gateReason(g).Text, "3 of its tasks run, as many as may run at once"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}
