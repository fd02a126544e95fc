// Package units reads and writes the durations, time limits and sizes that people type: 7d, 2-12:00:00, 4G.
// Its callers decide what a value means, and which values are sensible. The errors are sentences about the
// text that was read.
package units

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// longest limits durations, so that sums of several do not overflow.
const longest = 100 * 365 * day

const day = 24 * time.Hour

// timeUnits are the units of durations, the longest first.
var timeUnits = []struct {
	name string
	unit time.Duration
}{
	{"w", 7 * day}, {"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
	{"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", time.Nanosecond},
}

// ParseDuration reads 90s, 1h30m, 2d12h, 1.5h, 1:30:00 (h:m:s) and 2-12:00:00 (d-h:m:s). It refuses a number
// without a unit, except 0.
func ParseDuration(text string) (time.Duration, error) {
	switch {
	case text == "":
		return 0, errors.New("a duration such as 90s, 1h30m or 7d is missing")
	case text[0] == '-':
		return 0, fmt.Errorf("%s is negative", clip(text))
	case strings.Trim(text, "0") == "":
		return 0, nil
	case strings.Contains(text, ":"):
		return parseClock(text)
	}
	return parseSum(text)
}

// parseSum reads numbers with units, the longest unit first.
func parseSum(text string) (time.Duration, error) {
	sum, from := 0.0, 0
	whole := time.Duration(0) // the sum in whole nanoseconds
	for rest := text; rest != ""; {
		number, name, tail := cutNumber(rest)
		switch {
		case number == "":
			return 0, fmt.Errorf("%s is not a duration such as 90s, 1h30m or 7d", clip(text))
		case name == "":
			return 0, fmt.Errorf("%s needs a unit: %[2]ss, %[2]sm, %[2]sh or %[2]sd", clip(text), clip(number))
		}
		i := findUnit(name)
		if i < 0 {
			return 0, fmt.Errorf("%s has the unknown unit %s; units are w, d, h, m, s, ms, us and ns", clip(text),
				clip(strings.TrimSpace(name)))
		}
		if i < from {
			return 0, fmt.Errorf("%s names a longer unit after a shorter one; write 1h30m, not 30m1h", clip(text))
		}
		exact, value, err := scale(number, int64(timeUnits[i].unit))
		if sum += value; err != nil || sum > float64(longest) {
			return 0, tooLong(text, err)
		}
		whole += time.Duration(exact)
		rest, from = tail, i+1
	}
	return whole, nil
}

func tooLong(text string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", clip(text), err)
	}
	return fmt.Errorf("%s is longer than a hundred years", clip(text))
}

func findUnit(name string) int {
	for i, u := range timeUnits {
		if u.name == name {
			return i
		}
	}
	return -1
}

// cutNumber splits 12h30m into 12, h and 30m.
func cutNumber(text string) (number, unit, rest string) {
	i := span(text, "0123456789.")
	j := i + strings.IndexAny(text[i:]+"0", "0123456789.")
	return text[:i], text[i:j], text[j:]
}

func span(text, set string) int {
	return len(text) - len(strings.TrimLeft(text, set))
}

// scale multiplies a decimal number by a unit, and rounds the result to a whole number. The second result is
// the same number as a float, which cannot overflow.
func scale(number string, unit int64) (exact int64, value float64, err error) {
	head, fraction, _ := strings.Cut(number, ".")
	if head == "" || strings.Contains(fraction, ".") || number[len(number)-1] == '.' {
		return 0, 0, fmt.Errorf("%s is not a number", clip(number))
	}
	value, err = strconv.ParseFloat(number, 64)
	if value *= float64(unit); err != nil || value >= math.MaxInt64 {
		return 0, math.MaxInt64, nil
	}
	n, err := strconv.ParseInt(head, 10, 64)
	part, _ := strconv.ParseFloat("0."+fraction+"0", 64)
	return n*unit + int64(math.Round(part*float64(unit))), value, err
}

// parseClock reads [days-]hours:minutes:seconds.
func parseClock(text string) (time.Duration, error) {
	days, clock, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, clock = "0", text
	}
	parts := strings.Split(clock, ":")
	if len(parts) == 2 && !hasDays {
		return 0, fmt.Errorf("%s could be hours or minutes; write 1h30m, 1m30s or 0:01:30", clip(text))
	}
	if len(parts) != 3 {
		return 0, fmt.Errorf("%s is not of the form h:m:s or d-h:m:s", clip(text))
	}
	return clockSum(text, []string{days, parts[0], parts[1], parts[2]})
}

// clockSum adds days, hours, minutes and seconds. As in sbatch, each may be larger than the next unit:
// 0:90:00 is an hour and a half.
func clockSum(text string, parts []string) (time.Duration, error) {
	sum := time.Duration(0)
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return 0, fmt.Errorf("%s: %q is not a whole number", clip(text), clip(p))
		}
		unit := timeUnits[1+i].unit
		if time.Duration(n) > (longest-sum)/unit {
			return 0, tooLong(text, nil)
		}
		sum += time.Duration(n) * unit
	}
	return sum, nil
}

// FormatDuration writes a duration so that [ParseDuration] reads the same: 7d, 1h30m.
func FormatDuration(d time.Duration) string {
	if d <= 0 {
		if d == 0 {
			return "0"
		}
		if d == math.MinInt64 {
			d++
		}
		return "-" + FormatDuration(-d)
	}
	var b strings.Builder
	for _, u := range timeUnits[1:] { // days are easier to compare than weeks
		if n := d / u.unit; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.unit
		}
	}
	return b.String()
}

// clip keeps an error short, however long the typed text is.
func clip(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
