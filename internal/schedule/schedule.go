// Package schedule finds the instants at which a schedule in the form of cron is due, also on days on
// which the clocks of a zone are set forward or back.
//
// The fields are read and matched by gronx, always in UTC, where no day has a change: a reading of the
// clock on the wall is written as if it were one of UTC. This package alone decides how readings and
// instants belong together. It knows nothing of jobs.
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
// On days on which the clocks are changed it follows Vixie cron (cron(8), "Daylight Saving Time"). A
// schedule of fixed hours is due once at each of its readings: at the change if the change leaves the
// reading out, and at the first of two. A schedule of every hour, or of every n-th, is due whenever the
// clock shows one of its readings.
type Schedule struct {
	spec      string
	intervals bool // its hours are * or */n
}

// Parse reads five fields (minute, hour, day of the month, month, day of the week), six with seconds
// before them, or a name such as @hourly.
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

// Next returns the first instant after an instant at which the schedule is due in that instant's zone.
// It returns [ErrNever] if there is none.
func (s Schedule) Next(after time.Time) (time.Time, error) {
	if s.intervals {
		return s.nextInterval(after)
	}
	return s.nextFixed(after)
}

// nextInterval goes through the spans between changes of the clock. Within one, readings and instants
// are a constant apart.
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
		span, from = end, reading(end).Add(-time.Second) // the first reading of the next span counts, too
	}
}

// nextFixed goes through the readings of the schedule. Where an hour comes twice, the first readings after
// an instant may be of earlier ones; where an hour is left out, all its readings are of one instant.
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

// reading returns what the clock on the wall shows at an instant, as a time of UTC.
func reading(t time.Time) time.Time { return t.UTC().Add(offset(t)) }

// offset returns by how much the clock on the wall is ahead of UTC.
func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// farthest is more than any zone was ever ahead of UTC or behind it, and any change of its clock.
const farthest = 50 * time.Hour

// reached returns the first instant at which the clock on the wall of a zone has come to a reading: it
// shows the reading for the first time, or it is set forward and leaves the reading out.
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
