package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/sim"
)

// limitsLine writes how the time limits of pools affected the jobs; "" if they did not.
func limitsLine(l *sim.Limited) string {
	var parts []string
	if l.Refused > 0 {
		parts = append(parts, jobCount(l.Refused)+" left out: above max_time")
	}
	if l.Given > 0 {
		text := jobCount(l.Given) + " without a limit got the limit of their pools"
		if l.Ended > 0 {
			text += fmt.Sprintf(", and %s of these ended at the limit", thousands(float64(l.Ended)))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// lasting writes a number of seconds as a duration.
func lasting(n float64) string {
	if n == 0 {
		return "0"
	}
	return span(time.Duration(n * float64(time.Second)))
}

// procHours writes processor-seconds as processor-hours.
func procHours(n float64) string {
	switch h := math.Round(n/360) / 10; {
	case h == 0:
		return "0h"
	case h <= -10:
		return "-" + thousands(-h) + "h"
	case h < 10:
		return fmt.Sprintf("%.1fh", h)
	default:
		return thousands(h) + "h"
	}
}

// short writes a ratio with few digits.
func short(f float64) string {
	if f >= 1000 {
		return thousands(f)
	}
	return fmt.Sprintf("%.3g", f)
}

func jobCount(n int) string {
	if n == 1 {
		return "1 job"
	}
	return thousands(float64(n)) + " jobs"
}

// printGuesses prints how many tasks a replay of the past guesses or leaves out.
func printGuesses(w io.Writer, guessed, leftOut int) {
	if guessed > 0 {
		fmt.Fprintf(w, "%s not ended; their run times are those of other tasks of the same user\n", count(guessed, "task has", "tasks have"))
	}
	if leftOut > 0 {
		fmt.Fprintf(w, "%s left out: larger than the machine, or of unknown run time\n", count(leftOut, "task", "tasks"))
	}
}
