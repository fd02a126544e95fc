package swf

import (
	"fmt"
	"strings"
)

// Report counts the lines of a trace that were omitted or changed.
type Report struct {
	Lines int `json:"lines"` // lines with jobs
	Jobs  int `json:"jobs"`  // jobs that can be simulated
	Procs int `json:"procs"` // of the machine

	// Omitted:

	Outside   int `json:"outside_window"`
	Parts     int `json:"parts"`
	Cancelled int `json:"cancelled"`
	NoSubmit  int `json:"no_submit_time"`
	NoRun     int `json:"no_run_time"`
	NoProcs   int `json:"no_processors"`
	TooLarge  int `json:"larger_than_machine"`

	// Changed, or taken from elsewhere:

	Killed     int     `json:"run_cut_to_estimate"`
	Extended   int     `json:"estimate_extended"`
	Clipped    int     `json:"clipped_to_machine"`
	NoEstimate int     `json:"no_estimate"`
	Instant    int     `json:"run_time_zero"`
	Rounded    int     `json:"fields_rounded"`
	Extra      int     `json:"lines_with_extra_fields"`
	Sorted     bool    `json:"sorted"`
	ScaleLoad  float64 `json:"load_scale"`
}

// LeftOut returns the number of omitted lines.
func (p *Report) LeftOut() int { return p.Lines - p.Jobs }

// String returns the report as one line.
func (p *Report) String() string {
	text := fmt.Sprintf("%s on %s", count(p.Jobs, "job", "jobs"), count(p.Procs, "processor", "processors"))
	out, changed := p.reasons(), p.changes()
	if len(out) == 0 && len(changed) == 0 {
		return text + "; nothing left out or changed"
	}
	if len(out) > 0 {
		text += fmt.Sprintf("; left out %s: %s", count(p.LeftOut(), "line", "lines"), strings.Join(out, ", "))
	}
	if len(changed) > 0 {
		text += "; changed: " + strings.Join(changed, ", ")
	}
	return text
}

func (p *Report) reasons() (list []string) {
	for _, x := range []struct {
		n    int
		text string
	}{
		{p.Outside, "submitted outside the window"},
		{p.Parts, "parts of jobs that another line sums up"},
		{p.Cancelled, "cancelled before they ran"},
		{p.NoSubmit, "without a submit time"},
		{p.NoRun, "without a run time"},
		{p.NoProcs, "without a number of processors"},
		{p.TooLarge, "asking for more processors than there are (--oversize clip keeps them)"},
	} {
		if x.n > 0 {
			list = append(list, fmt.Sprintf("%s %s", thousands(x.n), x.text))
		}
	}
	return list
}

func (p *Report) changes() (list []string) {
	for _, x := range []struct {
		n    int
		text string
	}{
		{p.Killed, "run times cut to the estimate (--overrun extend keeps them)"},
		{p.Extended, "estimates extended to the run time"},
		{p.Clipped, "jobs clipped to the machine"},
		{p.NoEstimate, "without an estimate (planned by their run time)"},
		{p.Instant, "jobs with a run time of 0: they start and end in the same second"},
		{p.Rounded, "numbers with fractions rounded"},
		{p.Extra, "lines with more than 18 fields cut"},
	} {
		if x.n > 0 {
			list = append(list, fmt.Sprintf("%s %s", thousands(x.n), x.text))
		}
	}
	if p.Sorted {
		list = append(list, "lines put in order of submission")
	}
	if p.ScaleLoad != 1 {
		list = append(list, fmt.Sprintf("load scaled by %g", p.ScaleLoad))
	}
	return list
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
