package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
)

func (a *app) reportCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "report", Short: "Sum up the recent past",
		Long: "Sum up the recent past, for those who want to see it in writing.",
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.reportFairnessCommand())
	return c
}

type fairnessReport struct {
	*app
	listing
	by, window string
	csv        bool
}

func (a *app) reportFairnessCommand() *cobra.Command {
	r := &fairnessReport{app: a}
	c := &cobra.Command{
		Use:   "fairness [POOL]",
		Short: "Say what each pool was due and received, and how late it was",
		Long: `Say what each pool was due from the ideal fluid scheduler and what it received, in
hours of the unit, and what it is owed (above 0) or ahead (below 0). JAIN is the index of
the pools right below: 1 is fair. LATE is how much later its tasks ended than on a
cluster of its own, on average and at most, since the server started.

The account is in the server's memory: the window is no longer than the server has run.`,
		Example: `  fairlead report fairness
  fairlead report fairness physics --window hour
  fairlead report fairness --csv > fairness.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if r.by != "pool" {
				return usagef("--by: %q is not known; known: pool", r.by)
			}
			if r.window != "hour" && r.window != "day" {
				return usagef("--window: %q is not known; known: hour, day", r.window)
			}
			return r.with(func(client *api.Client) error {
				return r.repeat(c.Context(), &r.listing, func() error { return r.show(c.Context(), client, strings.Join(args, "")) })
			})
		},
	}
	r.listing.flags(c)
	c.Flags().StringVar(&r.by, "by", "pool", "what the rows are: pool")
	c.Flags().StringVar(&r.window, "window", "day", "the last hour or day")
	c.Flags().BoolVar(&r.csv, "csv", false, "print comma-separated values, in slot-seconds and seconds")
	return c
}

func (r *fairnessReport) show(ctx context.Context, client *api.Client, pool string) error {
	doc, err := client.Shares(ctx, pool)
	if err != nil {
		return err
	}
	switch {
	case r.json:
		return r.printJSON(doc)
	case r.csv:
		return r.printCSV(doc)
	}
	if r.terminal() && !r.noHeader {
		whole := r.whole(doc)
		fmt.Fprintf(r.out, "the last %s · unit %s · Jain %.2f at the top, %.2f of all leaves · idle while something would fit %s %s-h\n",
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
	w := csv.NewWriter(r.out)
	if !r.noHeader {
		w.Write([]string{"pool", "share", "due_slot_seconds", "received_slot_seconds", "owed_slot_seconds", "jain", "tasks", "late_seconds", "late_largest_seconds"})
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	for i := range doc.Pools {
		p := &doc.Pools[i]
		s, f := r.span(p), &p.Fairness
		w.Write([]string{rootSlash(p.Path), number(p.Share), number(s.Ideal), number(s.Received), number(s.Lag()), number(s.Jain),
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
