package engine

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// TestArrivals: however many jobs came, the marks are few, and say since when a job
// waits, the later the more exactly.
func TestArrivals(t *testing.T) {
	zero := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	var a arrivals
	const jobs, each = 300_000, 300 * time.Millisecond
	at := func(job int64) time.Time { return zero.Add(time.Duration(job) * each) }
	for job := int64(5); job <= jobs; job++ {
		a.note(queue.Header{ID: job, Submitted: at(job)})
		a.note(queue.Header{ID: job - 3, Submitted: at(job - 3)}) // comes back: known already
	}
	if len(a) > arrivalsKept {
		t.Errorf("%d marks", len(a))
	}
	now := at(jobs)
	for job := int64(5); job <= jobs; job += 17 {
		age := now.Sub(at(job)).Seconds()
		if got := a.Since(job, now); got < age || got > age*1.011+1.3 {
			t.Fatalf("job %d waits %v s, want %v", job, got, age)
		}
	}
	if a.Since(0, now) != 0 || a.Since(3, now) != 0 {
		t.Error("no job waits as well")
	}
}
