package web

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// stops is a field with a slider beside it. The slider has a position for each of some values, as texts: the
// values of a grid, the job's value, and the requested value. So an untouched slider leaves the value exactly
// as it is.
type stops struct {
	Texts []string
	At    int // the position of the value
	Value string
	Now   string // the job's value
}

// refuse shows a text that is not a possible value, so that the user can correct it.
func (s *stops) refuse(text string) { s.Value = text }

// Changed reports whether the value differs from the job's.
func (s stops) Changed() bool { return s.Value != s.Now }

// Last returns the position of the last value.
func (s stops) Last() int { return len(s.Texts) - 1 }

// stopsOf makes a slider from the values of a grid and two more.
func stopsOf[T int64 | time.Duration](grid []T, now, value T, text func(T) string) stops {
	all := slices.Compact(slices.Sorted(slices.Values(append(grid, now, value))))
	s := stops{Value: text(value), Now: text(now), At: slices.Index(all, value)}
	for _, v := range all {
		s.Texts = append(s.Texts, text(v))
	}
	return s
}

// limitsTried are common time limits, with about equal ratios between neighbors.
var limitsTried = []time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute, 45 * time.Minute,
	time.Hour, 75 * time.Minute, 90 * time.Minute, 2 * time.Hour, 150 * time.Minute, 3 * time.Hour, 4 * time.Hour, 5 * time.Hour, 6 * time.Hour, 8 * time.Hour, 10 * time.Hour, 12 * time.Hour, 16 * time.Hour, 20 * time.Hour,
	24 * time.Hour, 36 * time.Hour, 48 * time.Hour, 60 * time.Hour, 72 * time.Hour, 96 * time.Hour, 120 * time.Hour, 168 * time.Hour, 240 * time.Hour, 336 * time.Hour, 504 * time.Hour, 672 * time.Hour,
}

// endless stands for no limit, beyond all limits, and noLimit is its name in a field.
const (
	endless = 100 * 365 * 24 * time.Hour
	noLimit = "none"
)

// limitStops reaches from seconds to twice the limit of a job; for a job without a limit, to four weeks and
// to no limit.
func limitStops(now, value float64) stops {
	of := func(seconds float64) time.Duration {
		if seconds <= 0 {
			return endless
		}
		return time.Duration(seconds * float64(time.Second))
	}
	var grid []time.Duration
	for _, d := range limitsTried {
		if grid = append(grid, d); d >= 2*of(now) {
			break
		}
	}
	return stopsOf(grid, of(now), of(value), func(d time.Duration) string {
		if d == endless {
			return noLimit
		}
		return units.FormatDuration(d)
	})
}

// readLimit reads a time limit in seconds: 1h30m, a number of seconds, or none, which is [queue.NoLimit]. An empty text
// means no change.
func readLimit(text string, now float64) (seconds float64, problem string) {
	switch text {
	case "":
		return now, ""
	case noLimit:
		return queue.NoLimit.Seconds(), ""
	}
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		text = fmt.Sprint(n, "s")
	}
	d, err := units.ParseDuration(text)
	switch {
	case err != nil:
		return now, "time limit: " + err.Error()
	case d <= 0 || d >= endless:
		return now, fmt.Sprintf("time limit: %.40q is not a possible limit", text)
	}
	return d.Seconds(), ""
}

// unitStops reaches from 1 to twice the request of a job, with larger steps for larger values, up to a
// quarter of the value.
func unitStops(now, value int64) stops {
	var grid []int64
	for v := int64(1); ; v += max(1, v/64*16, v/8) {
		if grid = append(grid, v); v >= max(8, 2*now) {
			break
		}
	}
	return stopsOf(grid, now, value, func(v int64) string { return strconv.FormatInt(v, 10) })
}

// maxUnits bounds a request.
const maxUnits = 1 << 40

// readUnits reads a number of units. An empty text means no change.
func readUnits(text string, now int64) (value int64, problem string) {
	if text == "" {
		return now, ""
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 1 || v > maxUnits {
		return now, fmt.Sprintf("%.40q is not a whole number above 0", text)
	}
	return v, ""
}
