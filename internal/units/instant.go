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
	if offset, ok := clock(text); ok {
		if t := midnight.Add(offset); t.After(now) {
			return t, nil
		}
		return midnight.Add(24*time.Hour + offset), nil
	}
	switch text {
	case "now":
		return now, nil
	case "tomorrow":
		return midnight.AddDate(0, 0, 1), nil
	}
	if day, hour, two := strings.Cut(text, " "); two && (day == "today" || day == "tomorrow") {
		t, err := time.Parse("15:04", strings.TrimSpace(hour))
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
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return now, fmt.Errorf("%q is not a time: expected 16:00, +2h, tomorrow 08:00, 2026-12-24, 2026-12-24T08:00", text)
}

// clock reads a time of day without a date, as the time since midnight.
func clock(text string) (since time.Duration, ok bool) {
	switch text {
	case "midnight":
		return 0, true
	case "noon":
		return 12 * time.Hour, true
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			hour, minute, second := t.Clock()
			return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second, true
		}
	}
	return 0, false
}

// ParsePast reads a point in the past: a time, or how long ago. 16:00 means the last time at which the clock showed
// 16:00.
func ParsePast(text string, now time.Time) (time.Time, error) {
	t, err := parsePast(text, now)
	if err == nil && t.After(now) {
		return t, fmt.Errorf("%q is in the future: it is %s now", text, now.Format("2006-01-02T15:04"))
	}
	return t, err
}

// ParseEnd reads the end of a period as ParsePast does. A period that would end in the future ends now.
func ParseEnd(text string, now time.Time) (time.Time, error) {
	t, err := parsePast(text, now)
	return Earlier(t, now), err
}

// parsePast reads a time, or how long ago. Only a time with a date can be in the future.
func parsePast(text string, now time.Time) (time.Time, error) {
	if d, err := ParseDuration(strings.TrimPrefix(text, "-")); err == nil {
		return now.Add(-d), nil
	}
	t, err := ParseInstant(text, now)
	if err != nil {
		return t, fmt.Errorf("%q is not a time in the past: expected 24h or 30d (ago), 16:00, 2026-01-01, 2026-01-01T08:00", text)
	}
	if _, ok := clock(text); ok {
		return t.AddDate(0, 0, -1), nil
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
