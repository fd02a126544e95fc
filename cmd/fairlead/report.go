package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
)

func reportCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "report", Short: "Report usage, waits and fairness over a period",
		Long: `Report usage, waits and fairness over a period: as a table, as CSV for a spreadsheet, as
JSON, or as one self-contained HTML page with charts.`,
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(reportUsageCommand(a), reportWaitsCommand(a), reportFairnessCommand(a))
	return c
}

// fairnessReport is the report on fairness, from the live numbers or from past jobs.
type fairnessReport struct {
	pastReport
	window string
	csv    bool
}

func reportFairnessCommand(a *app) *cobra.Command {
	r := &fairnessReport{pastReport: pastReport{app: a, shares: true}}
	c := &cobra.Command{
		Use:   "fairness [POOL]",
		Short: "Report the entitlement, service and lag of each pool",
		Long: `Report the service that each pool was entitled to (ENTITLED) and the service that it received
(RECEIVED), in hours of one unit, such as cpu-hours. A pool is entitled at each moment to its share
by weight, within its minimum and maximum, as far as it has tasks that fit. SERVED is RECEIVED
divided by ENTITLED, at most 100%. LAG is ENTITLED less RECEIVED: above 0 the pool received too
little, below 0 too much. JAIN is Jain's index of SERVED over the child pools of the pool: 1 is fair.
If JAIN is small, a line below the table names the pools that cause this. LATE and LATEST show how much later
the pool's tasks ended than if the pool had a cluster of its own, as large as its share: on average
and at most, since the server started.

The server keeps these numbers in memory: the window cannot exceed the server's uptime.

With --since, --until, --by, --depth or --format, the report reads the stored jobs
instead. For each pool it compares two numbers: the part of the cluster that the pool used, and the
mean share of the pool in the period, weighted by the use of the cluster. While a pool has no demand,
its last share counts.`,
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
				return r.repeat(c.Context(), &r.listing, func() error { return r.live(c.Context(), client, args) })
			})
		},
	}
	r.pastReport.flags(c)
	c.Flags().Lookup("by").Usage = "with --since: group by pool, or by month,pool"
	since := c.Flags().Lookup("since")
	since.Usage = "start of the period: 30d, 2026-01-01 (default 30d with --until, --by, --depth or --format)"
	since.DefValue = ""
	c.Flags().StringVar(&r.window, "window", "day", "hour or day: the last hour or the last day")
	c.Flags().BoolVar(&r.csv, "csv", false, "print comma-separated values, in slot-seconds and seconds")
	return c
}

// live prints the report on the live numbers, or writes it to a file.
func (r *fairnessReport) live(ctx context.Context, client *api.Client, args []string) error {
	doc, err := client.Pools.Shares(ctx, strings.Join(args, ""))
	if err != nil || r.out == "" {
		return show(r.app, r.json, r.table)(doc, err)
	}
	return writeWhole(r.out, func(w io.Writer) error {
		to, app := *r, *r.app
		to.app, app.out = &app, w
		return show(to.app, to.json, to.table)(doc, nil)
	})
}

// ofThePast reports whether a flag asks for past jobs.
func (r *fairnessReport) ofThePast(c *cobra.Command) bool {
	return slices.ContainsFunc([]string{"since", "until", "by", "depth", "format"}, c.Flags().Changed)
}

func (r *fairnessReport) runPast(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("a report on past jobs compares all pools; leave out %s", args[0])
	}
	if !slices.Contains(r.by, "pool") || slices.Contains(r.by, "user") || slices.Contains(r.by, "kind") {
		return usagef("--by: only pools have shares; expected pool, or month,pool")
	}
	if r.csv {
		r.format = "csv"
	}
	return r.with(func(client *api.Client) error {
		return r.repeat(c.Context(), &r.listing, func() error { return r.pastReport.show(c.Context(), client, c.CommandPath(), fairnessSheet) })
	})
}

func (r *fairnessReport) table(doc *api.Shares) error {
	if plain.Lines(doc); r.csv {
		return r.printCSV(doc)
	}
	if r.terminal() && !r.noHeader {
		whole := r.whole(doc)
		fmt.Fprintf(r.app.out, "the last %s · unit %s · served %s, Jain %.2f at the top, %.2f of all leaves",
			span(time.Duration(whole.Seconds*float64(time.Second)).Round(time.Second)), doc.Unit, percent(whole.Served),
			whole.Jain, whole.Leaves)
		fmt.Fprintf(r.app.out, " · idle while something would fit %s %s-h\n", hours(whole.Idle), doc.Unit)
	}
	right := func(name string) table.Column { return table.Column{Name: name, Right: true} }
	t := table.New(table.Column{Name: "POOL"}, right("SHARE"), right("SERVED"), right("JAIN"), right("LATE"), right("LATEST"),
		right("TASKS"), right("ENTITLED"), right("RECEIVED"), right("LAG"))
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
		t.Row(words.Pool(rootSlash(p.Path)), percent(p.Share), percent(s.Served), jain, late, latest, f.LateTasks,
			hours(s.Ideal), hours(s.Received), owed(s.Lag()))
	}
	if err := r.print(&r.listing, t); err != nil || r.noHeader {
		return err
	}
	uneven{r.span}.explain(r.app.out, doc)
	return nil
}

// span returns the numbers of a pool in the requested window.
func (r *fairnessReport) span(p *views.PoolView) views.FairnessSpan {
	if r.window == "hour" {
		return p.Fairness.Hour
	}
	return p.Fairness.Day
}

func (r *fairnessReport) whole(doc *api.Shares) views.FairnessWhole {
	if r.window == "hour" {
		return doc.Fairness.Hour
	}
	return doc.Fairness.Day
}

// printCSV prints the exact numbers.
func (r *fairnessReport) printCSV(doc *api.Shares) error {
	t := csvTable{keys: []string{"pool", "share", "served", "jain", "late_seconds", "late_largest_seconds", "tasks",
		"due_slot_seconds", "received_slot_seconds", "owed_slot_seconds"}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	for i := range doc.Pools {
		p := &doc.Pools[i]
		s, f := r.span(p), &p.Fairness
		t.rows = append(t.rows, []string{plain.Cell(rootSlash(p.Path)), number(p.Share), number(s.Served), number(s.Jain),
			number(f.LateSeconds), number(f.LateLargest), strconv.FormatInt(f.LateTasks, 10),
			number(s.Ideal), number(s.Received), number(s.Lag())})
	}
	return t.write(r.app.out, &r.listing)
}
