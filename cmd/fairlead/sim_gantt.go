package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/sim"
	simreport "github.com/fairlead/fairlead/internal/sim/report"
	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/internal/table"
)

// simShow holds the flags for pictures of a simulated schedule.
type simShow struct {
	gantt bool
	html  string
	part  ganttPart
}

// ganttPart selects the part of a schedule to draw.
type ganttPart struct{ from, to string }

func (g *ganttPart) flags(f *pflag.FlagSet) {
	f.StringVar(&g.from, "gantt-from", "",
		"draw the schedule from this time on: a date, a number of seconds into the trace, or a duration after the first "+
			"submission, such as 30d")
	f.StringVar(&g.to, "gantt-to", "", "draw the schedule until this time")
}

// set reports whether a part was selected.
func (g *ganttPart) set() bool { return g.from != "" || g.to != "" }

// of returns the selected part of a trace's schedule; nil if none was selected.
func (g *ganttPart) of(t *swf.Trace) (*simreport.Stretch, error) {
	if !g.set() {
		return nil, nil
	}
	s := &simreport.Stretch{From: math.MinInt64, To: math.MaxInt64}
	from, err := traceSecond("--gantt-from", g.from, t)
	if err != nil {
		return nil, err
	}
	to, err := traceSecond("--gantt-to", g.to, t)
	if err != nil {
		return nil, err
	}
	if from != nil {
		s.From = *from
	}
	if to != nil {
		s.To = *to
	}
	if s.From >= s.To {
		return nil, usagef("--gantt-from %s is not before --gantt-to %s", g.from, g.to)
	}
	return s, nil
}

func (s *simShow) flags(f *pflag.FlagSet) {
	f.BoolVar(&s.gantt, "gantt", false, "draw the schedule: processors over time, with the job that runs there")
	f.StringVar(&s.html, "html", "", "write a report with charts to this file, as one self-contained page")
	s.part.flags(f)
}

// check refuses flags that do not go together, before any long computation.
func (s *simShow) check(json bool) error {
	if s.gantt && json {
		return usagef("--gantt cannot be combined with --json; for a program, write the schedule with --schedule OUT.csv")
	}
	if s.part.set() && !s.gantt && s.html == "" {
		return usagef("--gantt-from and --gantt-to need --gantt or --html")
	}
	return nil
}

// gantt draws a schedule on the terminal, if requested.
func gantt(out io.Writer, s *simShow, t *simTrace, r *sim.Result) error {
	if !s.gantt {
		return nil
	}
	only, err := s.part.of(t.trace)
	if err != nil {
		return err
	}
	width := table.Width(out)
	if width == 0 {
		width = 120
	}
	fmt.Fprintln(out)
	return simreport.Text(out, r, width, only)
}

// page writes the report of one schedule, if requested.
func (s *simShow) page(c *cobra.Command, args []string, t *simTrace, p *simPolicy, r *sim.Result) error {
	if s.html == "" {
		return nil
	}
	only, err := s.part.of(t.trace)
	if err != nil {
		return err
	}
	name := filepath.Base(t.trace.Name)
	notes := []string{name + ": " + t.report.String() + "."}
	if l := limitsLine(&r.Metrics.Limits); l != "" {
		notes = append(notes, "Time limits: "+l+".")
	}
	x := simreport.Report{
		Title:   fmt.Sprintf("%s under %s", name, p.title()),
		Command: repeated(c, args),
		Notes:   notes,
		Runs:    []simreport.Run{{Name: p.title(), Result: r}},
		Only:    only,
	}
	return writePacked(s.html, x.HTML)
}

// title names a policy with its backfill rule, such as fair+easy.
func (p *simPolicy) title() string { return p.name + "+" + p.backfill() }
