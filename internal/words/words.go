// Package words writes what the server tells for people: amounts, spans, shares, and why a
// node or a job is as it is. The command line, top and the dashboard say the same thing in
// the same words because they all ask here.
package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/why"
)

// Span writes a time span as short as it can be told.
func Span(d time.Duration) string { return why.Duration(d) }

// Seconds makes a span of seconds.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// amount writes an amount of a resource: bytes as a size, all else as a number.
func amount(resource string, n int64) string {
	if resource == "mem" {
		return Size(n)
	}
	return fmt.Sprint(n)
}

// Size writes a number of bytes as short as it can be told.
func Size(n int64) string {
	const letters = "KMGTPE"
	if n < 1024 {
		return fmt.Sprint(n)
	}
	f, i := float64(n)/1024, 0
	for f >= 1000 && i < len(letters)-1 {
		f, i = f/1024, i+1
	}
	if f >= 100 {
		return fmt.Sprintf("%.0f%c", f, letters[i])
	}
	return fmt.Sprintf("%s%c", strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0"), letters[i])
}

// Amounts writes what there is of each resource, the unit left out.
func Amounts(a map[string]int64, unit string) string {
	var parts []string
	for name, n := range a {
		if name != unit {
			parts = append(parts, name+"="+amount(name, n))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// Percent writes a fraction.
func Percent(f float64) string { return fmt.Sprintf("%.1f%%", 100*f) }

// OneDigit writes a number with one digit after the point, if that is not 0.
func OneDigit(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// Clock writes an instant of today as a time, others with their date.
func Clock(t, now time.Time) string { return units.Clock(t, now) }

// Dash stands for an empty cell.
func Dash(text string) string { return cmp.Or(text, "-") }

// Unit is the head of the column of the unit in which shares are counted.
func Unit(unit string) string {
	if unit == "cpu" {
		return "CPU"
	}
	return unit
}
