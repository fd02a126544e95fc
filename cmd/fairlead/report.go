package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
)

func (a *app) reportCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "report", Short: "Sum up the past, for those who want to see it in writing",
		Long: `Sum up the past, for those who want to see it in writing: as a table, as CSV for a spreadsheet,
as JSON, or as a page of HTML with pictures that needs nothing but itself.`,
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.reportUsageCommand(), a.reportWaitsCommand(), a.reportFairnessCommand())
	return c
}

// fairnessReport is that of the live account, or of the past.
type fairnessReport struct {
	pastReport
	window string
	csv    bool
}

func (a *app) reportFairnessCommand() *cobra.Command {
	r := &fairnessReport{pastReport: pastReport{app: a, shares: true}}
	c := &cobra.Command{
		Use:   "fairness [POOL]",
		Short: "Say what each pool was due and received, and how late it was",
		Long: `Say what each pool was due from the ideal fluid scheduler and what it received, in
hours of the unit, and what it is owed (above 0) or ahead (below 0). JAIN is the index of
the pools right below: 1 is fair. LATE is how much later its tasks ended than on a
cluster of its own, on average and at most, since the server started.

The account is in the server's memory: the window is no longer than the server has run.

With --since or any other flag of the reports on the past it compares instead, from the jobs
that are kept, the part of all that each pool had with the share that it had then: the mean of
the shares that were in force, in which each moment counts for as much as all had in it.`,
		Example: `  fairlead report fairness
  fairlead report fairness --since 2026-01-01 --by month,pool --depth 1
  fairlead report fairness --since 365d --depth 1 --format html --out fairness.html
  fairlead report fairness physics --window hour
  fairlead report fairness --csv > fairness.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if r.ofThePast(c) {
				return r.runPast(c, args)
			}
			if r.window != "hour" && r.window != "day" {
				return usagef("--window: %q is not known; known: hour, day", r.window)
			}
			return r.with(func(client *api.Client) error {
				return r.repeat(c.Context(), &r.listing, func() error { return r.show(c.Context(), client, strings.Join(args, "")) })
			})
		},
	}
	r.pastReport.flags(c)
	c.Flags().StringVar(&r.window, "window", "day", "the last hour or day")
	c.Flags().BoolVar(&r.csv, "csv", false, "print comma-separated values, in slot-seconds and seconds")
	return c
}

// ofThePast reports whether a flag asks for the jobs that are kept.
func (r *fairnessReport) ofThePast(c *cobra.Command) bool {
	return slices.ContainsFunc([]string{"since", "until", "by", "depth", "format", "out"}, c.Flags().Changed)
}

func (r *fairnessReport) runPast(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("of the past all pools are compared; leave out %s", args[0])
	}
	if !slices.Contains(r.by, "pool") || slices.Contains(r.by, "user") || slices.Contains(r.by, "kind") {
		return usagef("--by: shares are those of pools; expected pool, or month,pool")
	}
	if r.csv {
		r.format = "csv"
	}
	return r.with(func(client *api.Client) error {
		return r.repeat(c.Context(), &r.listing, func() error { return r.pastReport.show(c.Context(), client, c.CommandPath(), fairnessSheet) })
	})
}

func (r *fairnessReport) show(ctx context.Context, client *api.Client, pool string) error {
	doc, err := client.Shares(ctx, pool)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(doc)
	}
	if plain.Lines(doc); r.csv {
		return r.printCSV(doc)
	}
	if r.terminal() && !r.noHeader {
		whole := r.whole(doc)
		fmt.Fprintf(r.app.out, "the last %s · unit %s · Jain %.2f at the top, %.2f of all leaves · idle while something would fit %s %s-h\n",
			span(time.Duration(whole.Seconds*float64(time.Second)).Round(time.Second)), doc.Unit, whole.Jain, whole.Leaves, hours(whole.Idle), doc.Unit)
	}
	t := table.New(table.Column{Name: "POOL"}, table.Column{Name: "SHARE", Right: true}, table.Column{Name: "DUE", Right: true},
		table.Column{Name: "RECEIVED", Right: true}, table.Column{Name: "OWED", Right: true}, table.Column{Name: "JAIN", Right: true},
		table.Column{Name: "TASKS", Right: true}, table.Column{Name: "LATE", Right: true}, table.Column{Name: "LATEST", Right: true})
	for i := range doc.Pools {
		p := &doc.Pools[i]
		s, f := r.span(p), &p.Fairness
		jain := "-"
		if i+1 < len(doc.Pools) && doc.Pools[i+1].Depth > p.Depth {
			jain = fmt.Sprintf("%.2f", s.Jain)
		}
		late, latest := "-", "-"
		if f.LateTasks > 0 {
			late, latest = span(seconds(f.LateSeconds/float64(f.LateTasks))), span(seconds(f.LateLargest))
		}
		t.Row(rootSlash(p.Path), percent(p.Share), hours(s.Ideal), hours(s.Received), owed(s.Lag()), jain, f.LateTasks, late, latest)
	}
	return r.print(&r.listing, t)
}

// span is the stretch of the past that is asked for.
func (r *fairnessReport) span(p *fairlead.PoolView) fairlead.FairnessSpan {
	if r.window == "hour" {
		return p.Fairness.Hour
	}
	return p.Fairness.Day
}

func (r *fairnessReport) whole(doc *api.Shares) fairlead.FairnessWhole {
	if r.window == "hour" {
		return doc.Fairness.Hour
	}
	return doc.Fairness.Day
}

// printCSV prints the exact numbers.
func (r *fairnessReport) printCSV(doc *api.Shares) error {
	w := csv.NewWriter(r.app.out)
	if !r.noHeader {
		w.Write([]string{"pool", "share", "due_slot_seconds", "received_slot_seconds", "owed_slot_seconds", "jain", "tasks", "late_seconds", "late_largest_seconds"})
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	for i := range doc.Pools {
		p := &doc.Pools[i]
		s, f := r.span(p), &p.Fairness
		w.Write([]string{plain.Cell(rootSlash(p.Path)), number(p.Share), number(s.Ideal), number(s.Received), number(s.Lag()), number(s.Jain),
			strconv.FormatInt(f.LateTasks, 10), number(f.LateSeconds), number(f.LateLargest)})
	}
	w.Flush()
	return w.Error()
}

// hours writes slot-seconds as hours.
func hours(slotSeconds float64) string { return fmt.Sprintf("%.2f", slotSeconds/3600) }

func rootSlash(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
