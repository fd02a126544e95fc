package instant

import (
	"slices"
	"time"
)

// near is the distance from now within which instants show seconds.
const near = 10 * time.Minute

// Clock writes an instant for a person, as short as possible. It omits the day if that is the day of the instant "now".
// It omits the seconds, unless the instant is less than ten minutes from "now", or another instant of the text has the
// same minute.
func Clock(t, now time.Time, beside ...time.Time) string {
	const day, minute = time.DateOnly, "2006-01-02 15:04"
	t = t.Local()
	layout := "15:04"
	if t.Sub(now).Abs() < near || slices.ContainsFunc(beside, func(other time.Time) bool {
		return other.Local().Format(minute) == t.Format(minute) && other.Sub(t).Abs() >= time.Second
	}) {
		layout = "15:04:05"
	}
	if t.Format(day) != now.Local().Format(day) {
		layout = day + " " + layout
	}
	return t.Format(layout)
}
