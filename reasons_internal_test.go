package fairlead

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/why"
)

// TestReasonsOfAnEarlierJob: what a pool waited for before a job came is told of that job only if
// the pool still waited for it then.
func TestReasonsOfAnEarlierJob(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	r := reasons{pool: map[string][]waited{}}
	rate := why.Reason{Code: why.GateRate, Text: "rate mail 5/s, burst 5"}
	full := why.Reason{Code: why.CapacityFull, Text: "the pool is next; everything is in use"}
	last := at(0)
	for _, s := range []int{2, 4, 20, 22, 24} { // all are looked at every two seconds; from 4 to 20 nobody waits
		before := last
		if s == 20 {
			before = at(18)
		}
		reason := rate
		if s == 24 {
			reason = full
		}
		r.note("ann", reason, "", before, at(s))
		last = at(s)
	}
	for _, c := range []struct {
		submitted, started int
		want               []string
	}{
		{1, 5, []string{"gate.rate"}},
		{3, 5, []string{"gate.rate"}}, // it came while another waited for that, and waited itself
		{10, 10, nil},
		{19, 25, []string{"gate.rate", "capacity.full"}},
		{23, 25, []string{"capacity.full"}},
		{30, 31, nil},
	} {
		var got []string
		for _, e := range r.since(&Job{ID: 7, Pool: "ann", Submitted: at(c.submitted), Started: at(c.started)}) {
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

// TestReasonsOfAnotherJob: a licence or rate that a job does not ask for is not what it waited for,
// and what it waited for before has not lasted.
func TestReasonsOfAnotherJob(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	r := reasons{pool: map[string][]waited{}}
	r.note("ann", why.Reason{Code: why.CapacityFull, Text: "the pool is next; everything is in use"}, "", at(0), at(2))
	r.note("ann", why.Reason{Code: why.GateRate, Text: "rate mail 5/s, burst 5"}, "rate mail", at(2), at(4))
	r.note("ann", why.Reason{Code: why.GateLicense, Text: "licence abaqus 1/1 used"}, "license abaqus", at(4), at(6))
	r.note("ann", why.Reason{Code: why.GateLicense, Text: "licence abaqus 1/1 used"}, "license abaqus", at(6), at(8))
	for name, c := range map[string]struct {
		job  Job
		want []string
	}{
		"neither":       {Job{}, []string{"capacity.full", "waits", "waits"}},
		"the rate":      {Job{Rates: []string{"mail"}}, []string{"capacity.full", "gate.rate", "waits"}},
		"another rate":  {Job{Rates: []string{"post"}}, []string{"capacity.full", "waits", "waits"}},
		"the licence":   {Job{Licenses: Amounts{"abaqus": 1}}, []string{"capacity.full", "waits", "gate.license"}},
		"neither, late": {Job{Submitted: at(7)}, []string{"waits"}},
	} {
		c.job.Pool = "ann"
		var got []string
		for _, e := range r.since(&c.job) {
			got = append(got, e.Code)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("a job with %s: %q, want %q", name, got, c.want)
		}
	}
}

// TestTollOf: the licence or rate is the one that is closed.
func TestTollOf(t *testing.T) {
	gates := []why.Gate{
		{Name: "rate mail", Where: "rates", Open: true}, {Name: "rate post", Where: "rates", Code: why.GateRate},
		{Name: "license abaqus", Where: "licenses", Code: why.GateLicense}, {Name: "max_running", Where: "ann", Code: why.GateMaxTasks},
	}
	for code, want := range map[why.Code]string{why.GateRate: "rate post", why.GateLicense: "license abaqus", why.GateMaxTasks: "", why.CapacityFull: ""} {
		if got := tollOf(gates, code); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
