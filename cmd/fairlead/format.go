package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/words"
)

// Short names for the formats that the commands use most often.
var (
	span     = words.Span
	seconds  = words.Seconds
	size     = words.Size
	amounts  = words.Amounts
	percent  = words.Percent
	oneDigit = words.OneDigit
	owed     = words.Owed
	clock    = words.Clock
	dash     = words.Dash
)

// command writes the command of a job in one line.
func command(j *api.Job) string {
	if len(j.Argv) == 0 {
		return "handler " + j.Kind
	}
	return strings.Join(j.Argv, " ")
}

// hours writes slot-seconds as hours.
func hours(slotSeconds float64) string { return fmt.Sprintf("%.2f", slotSeconds/3600) }

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// tasksOf writes how many tasks of a job wait, run, succeeded and failed.
func tasksOf(j *api.Job) string {
	return fmt.Sprintf("%dW %dR %dS %dF", j.Waiting, j.Running, j.Succeeded, j.Failed)
}

func clockOr(at *time.Time, now time.Time) string {
	if at == nil {
		return "-"
	}
	return clock(*at, now)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
