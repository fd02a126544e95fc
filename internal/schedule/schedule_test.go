package schedule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/adhocore/gronx"

	"github.com/fairlead/fairlead/internal/schedule"
)

// changed lists schedules on days on which the clocks are changed, in zones that change them at night, at
// midnight, and by half an hour.
var changed = []struct {
	zone, spec, after string
	want              string // the next instants by the local clock, with its offset
}{
	{"Europe/Berlin", "30 2 * * *", "2000-03-25T12:00:00+01:00",
		"2000-03-26 03:00 +0200, 2000-03-27 02:30 +0200"},
	{"Europe/Berlin", "30 2 * * *", "2000-10-28T12:00:00+02:00",
		"2000-10-29 02:30 +0200, 2000-10-30 02:30 +0100"},
	{"Europe/Berlin", "0,20,40 2 * * *", "2000-03-25T12:00:00+01:00",
		"2000-03-26 03:00 +0200, 2000-03-27 02:00 +0200"},
	{"Europe/Berlin", "*/20 2 * * *", "2000-10-29T00:30:00Z",
		"2000-10-29 02:40 +0200, 2000-10-30 02:00 +0100"},
	{"Europe/Berlin", "@hourly", "2000-10-29T00:30:00+02:00",
		"2000-10-29 01:00 +0200, 2000-10-29 02:00 +0200, 2000-10-29 02:00 +0100, 2000-10-29 03:00 +0100"},
	{"Europe/Berlin", "@hourly", "2000-03-26T00:30:00+01:00",
		"2000-03-26 01:00 +0100, 2000-03-26 03:00 +0200"},
	{"Europe/Berlin", "*/20 * * * *", "2000-10-29T02:30:00+02:00",
		"2000-10-29 02:40 +0200, 2000-10-29 02:00 +0100, 2000-10-29 02:20 +0100"},
	{"Europe/Berlin", "*/20 * * * *", "2000-03-26T01:30:00+01:00",
		"2000-03-26 01:40 +0100, 2000-03-26 03:00 +0200"},
	{"Europe/Berlin", "30 2 * * 0", "2000-03-25T12:00:00+01:00",
		"2000-03-26 03:00 +0200, 2000-04-02 02:30 +0200"},
	{"Europe/Berlin", "0 2 28 3 *", "2027-03-01T12:00:00+01:00",
		"2027-03-28 03:00 +0200, 2028-03-28 02:00 +0200"},
	{"Europe/Berlin", "*/10 * * * * *", "2000-03-26T01:59:45+01:00",
		"2000-03-26 01:59 +0100, 2000-03-26 03:00 +0200, 2000-03-26 03:00 +0200"},
	{"America/Santiago", "@weekly", "2000-10-10T12:00:00-04:00",
		"2000-10-15 01:00 -0300, 2000-10-22 00:00 -0300"},
	{"America/Santiago", "@daily", "2000-10-14T12:00:00-04:00",
		"2000-10-15 01:00 -0300, 2000-10-16 00:00 -0300"},
	{"America/Havana", "@weekly", "2000-03-28T12:00:00-05:00",
		"2000-04-02 01:00 -0400, 2000-04-09 00:00 -0400"},
	{"Atlantic/Azores", "@weekly", "2000-03-20T12:00:00-01:00",
		"2000-03-26 01:00 +0000, 2000-04-02 00:00 +0000"},
	{"Atlantic/Azores", "@daily", "2000-10-28T12:00:00Z",
		"2000-10-29 00:00 +0000, 2000-10-30 00:00 -0100"},
	{"Australia/Lord_Howe", "15 2 * * *", "2000-08-26T01:00:00+10:30",
		"2000-08-26 02:15 +1030, 2000-08-27 02:30 +1100, 2000-08-28 02:15 +1100"},
	{"Pacific/Apia", "0 9 * * *", "2011-12-29T08:00:00-10:00",
		"2011-12-29 09:00 -1000, 2011-12-31 00:00 +1400, 2011-12-31 09:00 +1400"},
	{"UTC", "0 0 29 2 *", "2096-03-01T00:00:00Z",
		"2104-02-29 00:00 +0000"},
	{"Asia/Tokyo", "0 3 L * *", "2026-02-01T00:00:00Z",
		"2026-02-28 03:00 +0900, 2026-03-31 03:00 +0900"},
}

// TestChanges checks the next instants around a change of the clock.
func TestChanges(t *testing.T) {
	for _, c := range changed {
		t.Run(fmt.Sprintf("%s in %s", c.spec, c.zone), func(t *testing.T) {
			zone, err := time.LoadLocation(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, c.after)
			if err != nil {
				t.Fatal(err)
			}
			s, err := schedule.Parse(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			at = at.In(zone)
			for _, want := range strings.Split(c.want, ", ") {
				if at, err = s.Next(at); err != nil {
					t.Fatal(err)
				}
				if got := at.Format("2006-01-02 15:04 -0700"); got != want {
					t.Fatalf("%s, want %s", got, want)
				}
			}
		})
	}
}

// TestEveryChangeOfAZone compares schedules with the clock itself, minute by minute, some hours before and after each
// change: fixed schedules with the readings that the clock passes for the first time, and intervals with the readings
// that it shows.
func TestEveryChangeOfAZone(t *testing.T) {
	zones := []string{
		"Europe/Berlin", "Europe/London", "America/New_York", "America/Santiago", "America/Havana",
		"America/St_Johns", "Atlantic/Azores", "Asia/Beirut", "Africa/Cairo", "Africa/Casablanca",
		"Australia/Lord_Howe", "Pacific/Chatham", "Asia/Tehran", "Antarctica/Troll",
	}
	fixed := []string{"30 2 * * *", "@daily", "@weekly", "@monthly", "5,35 0-3 * * *", "0 2 28 3 *", "*/7 1,2 * * 0"}
	intervals := []string{"@hourly", "*/20 * * * *", "17 */2 * * *", "45 * * * 0"}
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for change := range changes(time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC).In(zone), 2) {
			for _, spec := range fixed {
				compare(t, spec, change, gone)
			}
			for _, spec := range intervals {
				compare(t, spec, change, shown)
			}
		}
	}
}

// changes yields the next n changes of the clock after an instant.
func changes(at time.Time, n int) func(func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		for range n {
			_, end := at.ZoneBounds()
			if end.IsZero() || end.Year() > 2030 || !yield(end) { // the end of the tables of zones is not a change
				return
			}
			at = end
		}
	}
}

// compare visits the minutes around a change and checks which are due.
func compare(t *testing.T, spec string, change time.Time, due func(spec string, minute, last time.Time) bool) {
	t.Helper()
	s, err := schedule.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	at := change.Add(-6 * time.Hour)
	next, err := s.Next(at)
	if err != nil {
		t.Fatal(err)
	}
	last := wall(at) // the latest reading so far
	for minute := at.Add(time.Minute); minute.Before(change.Add(6 * time.Hour)); minute = minute.Add(time.Minute) {
		want := due(spec, minute, last)
		if got := next.Equal(minute); got != want {
			t.Fatalf("%s in %s: %s is due: %v, want %v; the next is %s", spec, change.Location(), minute, got, want, next)
		}
		if want {
			if next, err = s.Next(next); err != nil {
				t.Fatal(err)
			}
		}
		if wall(minute).After(last) {
			last = wall(minute)
		}
	}
}

func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}

// shown reports whether the clock shows a reading of the schedule.
func shown(spec string, minute, _ time.Time) bool {
	due, err := gronx.New().IsDue(spec, wall(minute))
	return due && err == nil
}

// gone reports whether the clock has passed a reading of the schedule since the latest one.
func gone(spec string, minute, last time.Time) bool {
	for r := last.Add(time.Minute); !r.After(wall(minute)); r = r.Add(time.Minute) {
		if shown(spec, r, last) {
			return true
		}
	}
	return false
}

// TestNever checks that Next soon returns an error for a schedule that is never due.
func TestNever(t *testing.T) {
	for _, spec := range []string{"0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 1 1 * 1999"} {
		s, err := schedule.Parse(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if at, err := s.Next(time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)); !errors.Is(err, schedule.ErrNever) {
			t.Errorf("%s is due at %s, %v", spec, at, err)
		}
	}
	for _, spec := range []string{
		"", "* * * *", "61 * * * *", "@fortnightly", "*/0 * * * *", "5-1 * * * *", "a b c d e",
	} {
		if _, err := schedule.Parse(spec); err == nil {
			t.Errorf("%q is a schedule", spec)
		}
	}
}
