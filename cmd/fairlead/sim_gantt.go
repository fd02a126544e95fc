package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/sim"
	simreport "github.com/fairlead/fairlead/internal/sim/report"
	"github.com/fairlead/fairlead/internal/table"
)

// simShow is how a simulated schedule is shown, beside its figures.
type simShow struct {
	gantt bool
	html  string
}

func (s *simShow) flags(f *pflag.FlagSet) {
	f.BoolVar(&s.gantt, "gantt", false, "draw the schedule as a table: processors and time, with the job that runs there")
	f.StringVar(&s.html, "html", "", "file for a report with pictures, a page that needs nothing but itself")
}

// check refuses flags that do not go together, before anything long is done.
func (s *simShow) check(json bool) error {
	if s.gantt && json {
		return usagef("--gantt draws for people: leave out --json, or take the schedule from --schedule OUT.csv")
	}
	return nil
}

// gantt draws a schedule for the terminal, if that was asked for.
func (a *app) gantt(s *simShow, r *sim.Result) error {
	if !s.gantt {
		return nil
	}
	width := table.Width(a.out)
	if width == 0 {
		width = 120
	}
	fmt.Fprintln(a.out)
	return simreport.Text(a.out, r, width)
}

// page writes the report of one schedule, if that was asked for.
func (s *simShow) page(c *cobra.Command, args []string, t *simTrace, p *simPolicy, r *sim.Result) error {
	if s.html == "" {
		return nil
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
	}
	return writePacked(s.html, x.HTML)
}

// title names a policy with its placement, as in fair+easy.
func (p *simPolicy) title() string { return p.name + "+" + p.backfill() }
