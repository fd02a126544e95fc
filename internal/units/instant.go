package units

import (
	"fmt"
	"strings"
	"time"
)

// ParseInstant reads a point in time as people write it. 16:00 means the next time at which the clock shows
// 16:00.
func ParseInstant(text string, now time.Time) (time.Time, error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	next := func(offset time.Duration) time.Time {
		if t := midnight.Add(offset); t.After(now) {
			return t
		}
		return midnight.Add(24*time.Hour + offset)
	}
	switch text {
	case "now":
		return now, nil
	case "tomorrow":
		return midnight.AddDate(0, 0, 1), nil
	case "midnight":
		return next(0), nil
	case "noon":
		return next(12 * time.Hour), nil
	}
	if day, clock, two := strings.Cut(text, " "); two && (day == "today" || day == "tomorrow") {
		t, err := time.Parse("15:04", strings.TrimSpace(clock))
		if err != nil {
			return now, fmt.Errorf("%q is not a time: expected %s 08:00", text, day)
		}
		date := now
		if day == "tomorrow" {
			date = midnight.AddDate(0, 0, 1)
		}
		return time.Date(date.Year(), date.Month(), date.Day(), t.Hour(), t.Minute(), 0, 0, now.Location()), nil
	}
	if later, ok := strings.CutPrefix(strings.TrimPrefix(text, "now"), "+"); ok {
		d, err := ParseDuration(strings.NewReplacer("minutes", "m", "minute", "m", "hours", "h", "hour", "h", "days", "d", "day", "d", "seconds", "s").Replace(later))
		return now.Add(d), err
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return next(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second), nil
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return now, fmt.Errorf("%q is not a time: expected 16:00, +2h, tomorrow 08:00, 2026-12-24, 2026-12-24T08:00", text)
}

// ParsePast reads a point in the past: a time, or how long ago.
func ParsePast(text string, now time.Time) (time.Time, error) {
	if d, err := ParseDuration(strings.TrimPrefix(text, "-")); err == nil {
		return now.Add(-d), nil
	}
	t, err := ParseInstant(text, now)
	if err != nil {
		return t, fmt.Errorf("%q is not a time in the past: expected 24h or 30d (ago), 16:00, 2026-01-01, 2026-01-01T08:00", text)
	}
	if t.After(now) {
		t = t.AddDate(0, 0, -1)
	}
	return t, nil
}

// ParseStart reads when something begins: a duration counts from now.
func ParseStart(text string, now time.Time) (time.Time, error) {
	if d, err := ParseDuration(text); err == nil && d >= 0 {
		return now.Add(d), nil
	}
	return ParseInstant(text, now)
}
