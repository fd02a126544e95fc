package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/why"
)

// span writes a time span as short as it can be told.
func span(d time.Duration) string { return why.Duration(d) }

// amount writes an amount of a resource: bytes as a size, all else as a number.
func amount(resource string, n int64) string {
	if resource == "mem" {
		return size(n)
	}
	return fmt.Sprint(n)
}

// size writes a number of bytes as short as it can be told.
func size(n int64) string {
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
