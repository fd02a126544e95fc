package life

import (
	"time"

	"github.com/fairlead/fairlead/usage"
)

// Day returns the number of a day since 1970, in UTC.
func Day(t time.Time) int64 {
	s := t.Unix()
	if s < 0 {
		s -= usage.Day - 1
	}
	return s / usage.Day
}

// Midnight returns the instant at which a day begins.
func Midnight(day int64) time.Time { return time.Unix(day*usage.Day, 0).UTC() }

// ByDay calls the function "add" with the slot-seconds of each day on which an attempt ran, from the day "oldest" on.
func ByDay(width float64, started, ended time.Time, oldest int64, add func(day int64, amount float64)) {
	if first := Midnight(oldest); started.Before(first) {
		started = first
	}
	for started.Before(ended) {
		day := Day(started)
		end := Midnight(day + 1)
		if end.After(ended) {
			end = ended
		}
		add(day, width*end.Sub(started).Seconds())
		started = end
	}
}
