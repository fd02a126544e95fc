package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/share"
)

// changes prints the changed requests with which the job would start sooner.
func (a *Answer) changes(b *strings.Builder) {
	again := false
	width := 0
	for i := range a.Changes {
		width = max(width, len(a.Changes[i].command()))
	}
	for i, c := range a.Changes {
		label := ""
		if i == 0 {
			label = "CHANGE"
		}
		text := c.Text
		if text == "" && c.Seconds > 0 {
			text = Duration(time.Duration(c.Seconds*float64(time.Second))) + " sooner"
		}
		line := fmt.Sprintf("  %-15s %-*s -> %-8s  %s", label, width, c.command(), c.when(a.At), text)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		again = again || !c.Alter
	}
	if again {
		b.WriteString("                  (to change what submit sets, cancel the job and submit it again)\n")
	}
	if a.Advice != "" {
		fmt.Fprintf(b, "  %-15s %s\n", "Advice", a.Advice)
	}
}

// command is the command that makes the change.
func (c *Change) command() string {
	if c.Alter {
		return "alter " + c.Flags
	}
	return "submit " + c.Flags
}

func (c *Change) when(now time.Time) string {
	if c.Now {
		return "now"
	}
	return instant.Clock(c.By, now)
}

// WhatIf compares a waiting job with the same job under a different request.
type WhatIf struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Job     int64     `json:"job"`
	Name    string    `json:"name,omitempty"`
	Changes []Varied  `json:"changes"`
	// Again means that the job would have to be canceled and submitted again; After then describes the new
	// job.
	Again  bool     `json:"again"`
	Before Standing `json:"before"`
	After  Standing `json:"after"`
	// Conclusion says in a sentence what the change does to the start.
	Conclusion string `json:"conclusion,omitempty"`
	// Seconds is how much sooner the job would start; if it is negative, the job would start later. It is
	// nil unless both starts are known.
	Seconds *float64 `json:"sooner_seconds,omitempty"`
}

// Varied is one field of the request that differs.
type Varied struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Standing is a job's verdict, rank and estimated start.
type Standing struct {
	Pool    string    `json:"pool"`
	Verdict Verdict   `json:"verdict"`
	Reason  Reason    `json:"reason"`
	Others  []Reason  `json:"others,omitempty"`
	Rank    *Rank     `json:"rank,omitempty"`
	Start   *Estimate `json:"start,omitempty"`
	Now     bool      `json:"now"` // it would start at once
}

// Standing is the short form of an answer.
func (a *Answer) Standing() Standing {
	return Standing{Pool: a.Subject.Pool, Verdict: a.Verdict, Reason: a.Reason, Others: a.Others, Rank: a.Rank,
		Start: a.Start}
}

// Compare works out by how much sooner the job would start.
func (w *WhatIf) Compare() {
	x, y := w.Before.Start, w.After.Start
	if x != nil && y != nil && x.By != nil && y.By != nil {
		s := x.By.Sub(*y.By).Seconds()
		w.Seconds = &s
	}
	w.Conclusion = w.difference()
}

// Text is the comparison for a person.
func (w *WhatIf) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: what if\n", strings.TrimSpace(fmt.Sprint(w.Job, " ", w.Name)))
	for _, c := range w.Changes {
		to, from := c.To, c.From
		if c.Field == "pool" {
			to, from = share.Original(to), share.Original(from)
		}
		fmt.Fprintf(&b, "  %-15s %s instead of %s\n", c.Field, to, from)
	}
	w.Before.text(&b, "as it is", w.At)
	w.After.text(&b, "changed", w.At)
	if w.Conclusion != "" {
		fmt.Fprintf(&b, "  %s\n", w.Conclusion)
	}
	if w.Again {
		b.WriteString("  You can change priority, pool and time limit while the job keeps its place; for other changes, " +
			"cancel and resubmit.\n")
	}
	return byClocks(b.String(), w.At)
}

func (w *WhatIf) difference() string {
	switch {
	case w.Seconds == nil:
		return w.places()
	case *w.Seconds >= 1:
		return "That is " + Duration(time.Duration(*w.Seconds*float64(time.Second))) + " sooner."
	case *w.Seconds <= -1:
		return "That is " + Duration(time.Duration(-*w.Seconds*float64(time.Second))) + " later."
	}
	return "That makes no difference."
}

// places draws the conclusion from the verdicts and the places, if a start is unknown.
func (w *WhatIf) places() string {
	x, y := w.Before.Rank, w.After.Rank
	switch {
	case w.After.Verdict == Impossible:
		return "So it would never start."
	case w.After.Now && !w.Before.Now:
		return "So it would start now."
	case x == nil || y == nil || x.Capped || y.Capped:
		return ""
	case x.Position == y.Position:
		return "Its place stays the same; how much sooner it starts is unknown."
	}
	return fmt.Sprintf("Its place would be %d instead of %d; how much sooner it starts is unknown.", y.Position,
		x.Position)
}

func (s *Standing) text(b *strings.Builder, label string, now time.Time) {
	fmt.Fprintf(b, "  %-15s %s\n", label, s.starts(now))
	indent := strings.Repeat(" ", 18)
	place := ""
	if r := s.Rank; r != nil && !s.Now {
		place = fmt.Sprintf(", number %d of %d", r.Position, r.Of)
		if r.Capped {
			place = fmt.Sprintf(", behind more than %d of %d", r.Position-1, r.Of)
		}
	}
	fmt.Fprintf(b, "%sverdict: %s%s\n", indent, s.Verdict, place)
	if !s.Now {
		fmt.Fprintf(b, "%s%s  [%s]\n", indent, s.Reason.Text, s.Reason.Code)
	}
}

// starts says when the job starts, in a line.
func (s *Standing) starts(now time.Time) string {
	e := s.Start
	switch {
	case s.Verdict == Impossible:
		return "never starts"
	case s.Now:
		return "starts now"
	case e == nil:
		return "unknown when it starts"
	case e.By == nil:
		return "starts " + e.Text
	}
	text := "starts by " + instant.Clock(*e.By, now)
	if e.Node != "" {
		text += " on " + e.Node
	}
	if e.Replays > 0 && e.Early != nil {
		text += ", " + span(*e.Early, *e.Late, now) + " in most replays"
	}
	return text
}
