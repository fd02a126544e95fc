package engine

import "time"

// repeated is a failure that occurs again and again, and that the log mentions less and less often.
type repeated struct{ since, line time.Time }

// The first and the longest time between log lines about a failure.
const (
	firstLine = 4 * time.Second
	lastLine  = time.Minute
)

// due reports whether it is time for a log line about the failure.
func (r *repeated) due(now time.Time) bool {
	if r.since.IsZero() {
		r.since = now
	}
	if now.Before(r.line) {
		return false
	}
	r.line = now.Add(min(max(now.Sub(r.since), firstLine), lastLine))
	return true
}
