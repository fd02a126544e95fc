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
		r.note("ann", reason, before, at(s))
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
