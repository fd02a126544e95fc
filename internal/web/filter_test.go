package web

import (
	"strings"
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

// TestFilterWords: words are found in any case, two values of one property are a mistake, and exit statuses have two
// spellings.
func TestFilterWords(t *testing.T) {
	exit2 := &api.Job{User: "ann", State: "failed"}
	exit2.LastEnd = &api.Task{ExitCode: 2}
	for text, finds := range map[string]bool{`cause:"exit 2"`: true, `cause:"exit status 2"`: true,
		`Cause:"exit status 12"`: false, "STATE:failed": true, "Name:x": false} {
		if f := parseFilter(text, time.Now()); f.err() != nil || f.passes(exit2) != finds {
			t.Errorf("%s: found %v, %v", text, !finds, f.err())
		}
	}
	for text, problem := range map[string]string{
		"user:ann u:bob": "user: is given twice (ann and bob); a job has only one",
		"user:ann u:ann": "",
		"cpu:>abc":       `cpu: "abc" is not an amount such as 8, 512M or 4G`,
		"SINCE:1h": `Unknown filter "SINCE:"; for jobs that ended in the last hour use ended:<1h, ` +
			"for jobs that have waited for an hour wait:>1h",
	} {
		if got := strings.Join(parseFilter(text, time.Now()).Problems, "; "); got != problem {
			t.Errorf("%s: %q, want %q", text, got, problem)
		}
	}
}
