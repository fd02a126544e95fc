// Package instant writes instants for people: in UTC in texts for readers elsewhere, and by the reader's
// clock on the reader's screen.
package instant

import (
	"regexp"
	"time"
)

// Text writes an instant in UTC by RFC 3339, for readers whose time zone the writer does not know. [ByClock]
// converts it for the reader.
func Text(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// instants matches the output of [Text].
var instants = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\b`)

// ByClock rewrites the instants of [Text] in a text for a person whose clock shows the instant "now": as [Clock] writes
// them in the time zone of this process. For each instant, it passes the other instants of the text to [Clock].
func ByClock(text string, now time.Time) string {
	var all []time.Time
	for _, found := range instants.FindAllString(text, -1) {
		if t, err := time.Parse(time.RFC3339, found); err == nil {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return text
	}
	return instants.ReplaceAllStringFunc(text, func(found string) string {
		t, err := time.Parse(time.RFC3339, found)
		if err != nil {
			return found // such as February 30
		}
		return Clock(t, now, all...)
	})
}
