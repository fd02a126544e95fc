package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Unit is the unit of the numbers of an axis.
type Unit int

const (
	Number  Unit = iota // a count or a factor
	Seconds             // a length of time, written 45s, 10m, 2h30m, 3d
	Percent             // a fraction; 0.25 is written 25%
	Clock               // an instant, in seconds since 1970, written 15:04, or 2 Jan at the beginning of a day
)

const (
	minute = 60.0
	hour   = 60 * minute
	day    = 24 * hour
)

// steps are the distances between ticks of a time axis; longer distances are 1, 2 or 5 times a power of ten
// days.
var steps = []float64{
	1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
	hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day,
}

// stepFor returns the smallest round distance that cuts a span into at most n pieces.
func stepFor(span float64, n int, unit Unit) float64 {
	least := span / float64(max(n, 1))
	if (unit == Seconds || unit == Clock) && least > 0.5 {
		for _, s := range steps {
			if s >= least {
				return s
			}
		}
		return roundStep(least/day) * day
	}
	if unit == Percent {
		for _, s := range []float64{0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1} {
			if s >= least && least > 0.005 {
				return s
			}
		}
	}
	return roundStep(least)
}

// roundStep returns the smallest of 1, 2 and 5 times a power of ten that is at least v.
func roundStep(v float64) float64 {
	if v <= 0 {
		return 1
	}
	ten := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if f*ten >= v*(1-1e-9) {
			return f * ten
		}
	}
	return 10 * ten
}

// linearTicks returns the multiples of a round step within a range, at most n+1 of them.
func linearTicks(from, to float64, n int, unit Unit) []float64 {
	step := stepFor(to-from, n, unit)
	var ticks []float64
	for i := math.Ceil(from/step - 1e-9); i*step <= to+step*1e-9; i++ {
		ticks = append(ticks, i*step+0) // avoids -0
	}
	return ticks
}

// logTicks returns round values within the range of a logarithmic axis.
func logTicks(from, to float64, unit Unit) []float64 {
	candidates := []float64{1, 10, minute, 10 * minute, hour, 6 * hour, day, 10 * day, 100 * day, 1000 * day, 10000 * day}
	if unit != Seconds || from < 1 {
		candidates = nil
		for e := math.Floor(math.Log10(from)); e <= math.Ceil(math.Log10(to)); e++ {
			candidates = append(candidates, math.Pow(10, e))
		}
	}
	var ticks []float64
	for _, v := range candidates {
		if v >= from*(1-1e-9) && v <= to*(1+1e-9) {
			ticks = append(ticks, v)
		}
	}
	return ticks
}

// label writes the value at a tick.
func label(v float64, unit Unit) string {
	switch unit {
	case Seconds:
		if v == 0 {
			return "0"
		}
		return Duration(v)
	case Percent:
		return strings.TrimSuffix(strconv.FormatFloat(v*100, 'f', 1, 64), ".0") + "%"
	}
	return Count(v)
}

// Duration writes seconds in their two largest units: 45s, 2m30s, 1h15m, 3d6h, 120d.
func Duration(seconds float64) string {
	if seconds < 0 {
		return "-" + Duration(-seconds)
	}
	if seconds < minute {
		return strings.TrimSuffix(strconv.FormatFloat(seconds, 'f', 1, 64), ".0") + "s"
	}
	names := []struct {
		size  float64
		small float64
		text  string
		rest  string
	}{{day, hour, "d", "h"}, {hour, minute, "h", "m"}, {minute, 1, "m", "s"}}
	for _, n := range names {
		// Round to the smaller unit first, so that 59m59.6s is 1h and not 60m.
		whole := math.Round(seconds/n.small) * n.small
		if whole < n.size {
			continue
		}
		big := math.Floor(whole / n.size)
		rest := math.Round((whole - big*n.size) / n.small)
		if rest == 0 || big >= 1000 {
			return Count(big) + n.text
		}
		return fmt.Sprintf("%.0f%s%.0f%s", big, n.text, rest, n.rest)
	}
	return Count(math.Round(seconds)) + "s"
}

// Count writes a number with commas between thousands, and only useful digits: 0.25, 12.5, 1,234, 25M.
func Count(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e15:
		return strconv.FormatFloat(v, 'e', 2, 64)
	case a >= 1e10:
		return trim(v/1e9, 2) + "G"
	case a >= 1e7:
		return trim(v/1e6, 2) + "M"
	case a >= 100:
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 1:
		return trim(v, 2)
	}
	return trim(v, 4)
}

// trim writes a number with at most "digits" digits after the point.
func trim(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'f', digits, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" || s == "" {
		return "0"
	}
	return s
}

func thousands(s string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		sign, s = "-", rest
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// RoundTime returns the smallest round length of time that is at least the given seconds.
func RoundTime(seconds float64) float64 {
	return stepFor(max(seconds, 1), 1, Seconds)
}
