package web

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// TestEndedFilter: ended:<1h and ended:1h find the jobs that ended in the last hour, and ended:>1h the jobs before.
func TestEndedFilter(t *testing.T) {
	now := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { x := now.Add(-d); return &x }
	for _, c := range []struct {
		text         string
		late, before bool
	}{{"ended:<1h", true, false}, {"ended:>1h", false, true}, {"ended:1h", true, false}} {
		f := parseFilter(c.text, now)
		if f.err() != nil {
			t.Fatal(f.err())
		}
		late, before := &api.Job{Ended: ago(time.Minute)}, &api.Job{Ended: ago(2 * time.Hour)}
		if f.passes(late) != c.late || f.passes(before) != c.before {
			t.Errorf("%s finds other jobs", c.text)
		}
		if f.passes(&api.Job{}) {
			t.Errorf("%s finds a job that has not ended", c.text)
		}
		if since := f.Query.Since; since.Equal(now.Add(-time.Hour)) != c.late {
			t.Errorf("%s reads jobs since %v", c.text, since)
		}
	}
}
