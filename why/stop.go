package why

import (
	"fmt"
	"strings"
	"time"
)

// Stop explains a preemption: the rule and the numbers that stopped a running task to make room for others, and the
// cost.
type Stop struct {
	At      time.Time `json:"at"`
	Rule    string    `json:"rule"` // min-share, fair-share or rebalance
	Job     int64     `json:"job"`
	Task    int       `json:"task"`
	Attempt int       `json:"attempt"`
	User    string    `json:"user"`
	Pool    string    `json:"pool"`
	Node    string    `json:"node"`
	Unit    string    `json:"unit"` // in which shares are counted

	For      string    `json:"for"`      // the pool that gets the room
	Resource string    `json:"resource"` // the resource that the pool lacked
	Running  float64   `json:"for_running"`
	Goal     float64   `json:"for_goal"` // its minimum, or its entitlement
	Since    time.Time `json:"for_since"`
	Owed     float64   `json:"for_owed"` // the slot-seconds that it lacked since then
	Next     int64     `json:"for_job,omitempty"`

	From        string  `json:"from"` // the pool that gives the room
	FromRunning float64 `json:"from_running"`
	FromGoal    float64 `json:"from_fair"`

	Choice   string    `json:"choice,omitempty"`
	Together int       `json:"together"` // number of tasks stopped at once for the same room
	Width    float64   `json:"width"`
	Seconds  float64   `json:"seconds"` // how long the task had run
	Lost     float64   `json:"lost"`    // slot-seconds
	Safe     time.Time `json:"safe_until"`
}

// Code is the reason code of the stop's rule.
func (s *Stop) Code() Code {
	switch s.Rule {
	case "min-share":
		return stopReclaimMin
	case "fair-share":
		return stopReclaimShare
	}
	return stopRebalance
}

// because writes the numbers that the rule compared.
func (s *Stop) because() string {
	var b strings.Builder
	if s.For != "" {
		fmt.Fprintf(&b, "%s had %s %s of its %s %s", s.For, Short(s.Running), s.Resource, s.goal(), Short(s.Goal))
		if !s.Since.IsZero() {
			fmt.Fprintf(&b, " for %s", Duration(s.At.Sub(s.Since)))
		}
		b.WriteString("; ")
	}
	fmt.Fprintf(&b, "%s ran %s %s, %s above its entitlement of %s", rootName(s.From), Short(s.FromRunning), s.Unit,
		Short(s.FromRunning-s.FromGoal), Short(s.FromGoal))
	return b.String()
}

func rootName(pool string) string {
	if pool == "" {
		return "the root"
	}
	return pool
}

func (s *Stop) goal() string {
	if s.Rule == "min-share" {
		return "minimum"
	}
	return "entitlement"
}

// price names the stopped task, the work that was lost with it, and the job that got the room.
func (s *Stop) price() string {
	text := ""
	if s.Choice != "" {
		text = "chosen as " + s.Choice + "; "
	}
	text += fmt.Sprintf("it ran %s on %s %s and lost %s", Duration(seconds(s.Seconds)), Short(s.Width), s.Unit,
		Amount(s.Lost, s.Unit))
	if s.Owed > 0 {
		text += fmt.Sprintf("; %[2]s lacked %[1]s", Amount(s.Owed, s.Unit), s.For)
	}
	if s.Next > 0 {
		text += fmt.Sprintf("; room for job %d", s.Next)
	}
	return text
}

// until says how long the job is safe from another stop.
func (s *Stop) until() string {
	if !s.Safe.After(s.At) {
		return "it may be stopped again: there is no grace period"
	}
	return fmt.Sprintf("safe until %s: no job is stopped twice within %s", s.Safe.Local().Format("15:04:05"),
		Duration(s.Safe.Sub(s.At)))
}

// Line describes the stop on one line, for the history of the job.
func (s *Stop) Line() string {
	return fmt.Sprintf("attempt %d stopped by rule %s: %s; %s; %s", s.Attempt, s.Rule, s.because(), s.price(), s.until())
}

// text describes the stop in an answer about the job.
func (s *Stop) text(b *strings.Builder) {
	fmt.Fprintf(b, "  Stopped         %s by rule %s, to run again as attempt %d  [%s]\n", s.At.Local().Format("15:04:05"),
		s.Rule, s.Attempt+1, s.Code())
	fmt.Fprintf(b, "                  %s\n                  %s\n                  %s\n", s.because(), s.price(), s.until())
}

// Amount writes an amount of service: 240 cpu-s, or 0.8 cpu-h from a tenth of an hour on.
func Amount(slotSeconds float64, unit string) string {
	if slotSeconds < 360 {
		return digits(slotSeconds, 1) + " " + unit + "-s"
	}
	return digits(slotSeconds/3600, 1) + " " + unit + "-h"
}
