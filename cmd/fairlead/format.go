package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/why"
)

// span writes a time span as short as it can be told.
func span(d time.Duration) string { return why.Duration(d) }

// amount writes an amount of a resource: bytes as a size, all else as a number.
func amount(resource string, n int64) string {
	if resource == "mem" {
		return units.FormatSize(n)
	}
	return fmt.Sprint(n)
}

// amounts writes what there is of each resource, the unit left out.
func amounts(a map[string]int64, unit string) string {
	var parts []string
	for name, n := range a {
		if name != unit {
			parts = append(parts, name+"="+amount(name, n))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// stateLetters are the states as the queue shows them.
var stateLetters = map[string]string{
	"held": "H", "blocked": "B", "waiting": "W", "running": "R", "succeeded": "S", "failed": "F", "cancelled": "C",
}

// command writes what a job runs, in one line.
func command(j *api.Job) string {
	if len(j.Argv) == 0 {
		return "handler " + j.Kind
	}
	return strings.Join(j.Argv, " ")
}

// printable replaces what could be mistaken on a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}

// clock writes an instant of today as a time, others with their date.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}
