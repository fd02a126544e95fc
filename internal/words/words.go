// Package words writes the reports of the server for people: amounts, spans, shares, and explanations of
// nodes and jobs. The command line, top and the dashboard use the same words because they all call this
// package.
package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/why"
)

// Span writes a time span as short as is clear.
func Span(d time.Duration) string { return why.Duration(d) }

// Seconds converts seconds to a duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Amount writes an amount of a resource: bytes as a size, all other amounts as a number.
func Amount(resource string, n int64) string {
	if resource == "mem" {
		return Size(n)
	}
	return fmt.Sprint(n)
}

// Size writes a number of bytes as short as is clear.
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

// Amounts writes the amount of each resource, except for the unit.
func Amounts(a map[string]int64, unit string) string {
	var parts []string
	for name, n := range a {
		if name != unit {
			parts = append(parts, name+"="+Amount(name, n))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// Percent writes a fraction.
func Percent(f float64) string { return fmt.Sprintf("%.1f%%", 100*f) }

// OneDigit writes a number with one digit after the point, if that is not 0.
func OneDigit(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// Clock writes an instant of today as a time, and other instants with their date.
func Clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// First names the first of some names, at most "few" of them, and counts the others.
func First(names []string, few int) string {
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// Dash returns the text, or a dash for an empty cell.
func Dash(text string) string { return cmp.Or(text, "-") }

// Unit returns the head of the column for the unit of shares.
func Unit(unit string) string {
	if unit == "cpu" {
		return "CPU"
	}
	return unit
}
