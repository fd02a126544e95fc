// Package instant writes instants for people who read them elsewhere: into texts in UTC, and by the clock of the reader
// where they are shown.
package instant

import (
	"regexp"
	"time"
)

// Text writes an instant into a text for readers whose time zone the writer does not know: as RFC 3339 does, in UTC.
// [ByClock] writes it by the clock of the reader.
func Text(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// instants matches what [Text] writes.
var instants = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\b`)

// ByClock is a text for a person whose clock shows now: each instant that [Text] wrote into it is as [Clock] writes
// it in the time zone of this process, beside the other instants of the text.
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
			return found // such as the 30th of February
		}
		return Clock(t, now, all...)
	})
}
