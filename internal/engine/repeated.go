package engine

import "time"

// repeated is a failure that comes again and again, and is logged less and less often.
type repeated struct{ since, line time.Time }

// The first and the longest time between lines of the log about a failure.
const (
	firstLine = 4 * time.Second
	lastLine  = time.Minute
)

// due reports whether the log needs a line about the failure now.
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
