// Package schedule finds the instants at which a schedule in the form of cron is due. It does so even on days
// on which the clocks of a zone are set forward or back.
//
// The library gronx reads and matches the fields, always in UTC, where clocks never change. It gets a reading
// of the local clock as if that were a time in UTC. Only this package maps readings to instants and back. It
// knows nothing about jobs.
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/adhocore/gronx"
)

// Schedule says when something is due. The zero value is not usable; see [Parse].
//
// On days on which the clocks are changed it follows Vixie cron (cron(8), "Daylight Saving Time"). A schedule
// of fixed hours is due exactly once for each of its readings. If the change skips a reading, the schedule is
// due at the change. If a reading comes twice, the schedule is due the first time. A schedule of every hour,
// or of every n-th, is due whenever the clock shows one of its readings.
type Schedule struct {
	spec      string
	intervals bool // its hours are * or */n
}

// Parse reads five fields (minute, hour, day of the month, month, day of the week), six with seconds before
// them, or a name such as @hourly.
func Parse(spec string) (Schedule, error) {
	if !gronx.IsValid(spec) {
		return Schedule{}, fmt.Errorf("%q is not a schedule: five fields "+
			"(minute, hour, day of the month, month, day of the week), or @hourly, @daily and the like", spec)
	}
	fields, err := gronx.Segments(spec)
	if err != nil {
		return Schedule{}, err
	}
	hours := fields[2]
	every := strings.HasPrefix(hours, "*") || hours == "?" || hours == "0-23"
	return Schedule{spec: spec, intervals: every}, nil
}

// ErrNever says that a schedule is never due again, such as "0 0 31 2 *" on the 31st of February.
var ErrNever = errors.New("it is never due")

// Next returns the first instant after the given one at which the schedule is due in the zone of the given
// instant. It returns [ErrNever] if there is none.
func (s Schedule) Next(after time.Time) (time.Time, error) {
	if s.intervals {
		return s.nextInterval(after)
	}
	return s.nextFixed(after)
}

// nextInterval goes through the spans between changes of the clock. Within a span, readings and instants
// differ by a constant.
func (s Schedule) nextInterval(after time.Time) (time.Time, error) {
	from := reading(after)
	for span := after; ; {
		due, err := s.nextReading(from)
		if err != nil {
			return time.Time{}, err
		}
		at := due.Add(-offset(span)).In(after.Location())
		_, end := span.ZoneBounds()
		if end.IsZero() || at.Before(end) {
			return at, nil
		}
		span, from = end, reading(end).Add(-time.Second) // the first reading of the next span counts as well
	}
}

// nextFixed goes through the readings of the schedule. If an hour comes twice, the first readings after an
// instant may belong to earlier instants; if an hour is skipped, all its readings belong to one instant.
func (s Schedule) nextFixed(after time.Time) (time.Time, error) {
	for from := reading(after); ; {
		due, err := s.nextReading(from)
		if err != nil {
			return time.Time{}, err
		}
		if at := reached(due, after.Location()); at.After(after) {
			return at, nil
		}
		from = due
	}
}

// nextReading returns the first reading of the schedule after another. Both are in UTC.
func (s Schedule) nextReading(after time.Time) (time.Time, error) {
	due, err := gronx.NextTickAfter(s.spec, after, false)
	if err != nil || !due.After(after) {
		return time.Time{}, ErrNever
	}
	return due, nil
}

// reading returns the reading of the local clock at an instant, as a time of UTC.
func reading(t time.Time) time.Time { return t.UTC().Add(offset(t)) }

// offset returns how far the local clock is ahead of UTC.
func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// farthest is larger than any offset from UTC and any change of a clock that ever existed.
const farthest = 50 * time.Hour

// reached returns the first instant at which the clock of a zone has come to a reading. At that instant the
// clock shows the reading for the first time, or is set forward and skips it.
func reached(due time.Time, zone *time.Location) time.Time {
	for span := due.Add(-farthest).In(zone); ; {
		at := due.Add(-offset(span)).In(zone)
		if at.Before(span) {
			at = span
		}
		_, end := span.ZoneBounds()
		if end.IsZero() || at.Before(end) {
			return at
		}
		span = end
	}
}
