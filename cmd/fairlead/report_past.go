package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/units"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
)

// pastReport holds the flags of the reports on past jobs.
type pastReport struct {
	*app
	listing
	since, until, format, out string
	by                        []string
	shares                    bool // also ask for the shares of pools
	depth                     int
}

func (r *pastReport) flags(c *cobra.Command) {
	r.listing.flags(c)
	f := c.Flags()
	f.StringVarP(&r.since, "since", "S", "30d", "start of the period: 30d, 2026-01-01")
	f.StringVar(&r.until, "until", "", "end of the period: 2026-04-01 (default: now)")
	f.StringSliceVar(&r.by, "by", []string{"pool"}, "group by month, pool, user, kind, or several of these")
	f.IntVar(&r.depth, "depth", 0, "levels of pools to show: 1 shows the top pools, each with all below it; 0 shows all")
	f.StringVar(&r.format, "format", "table", "table, csv, json or html")
	f.StringVar(&r.out, "out", "", "write to this file")
}

// sheetOf makes a sheet from a report.
type sheetOf func(doc *api.PastReport) *sheet

func reportUsageCommand(a *app) *cobra.Command {
	return pastCommand(a, &cobra.Command{
		Use:   "usage",
		Short: "Report usage per month, pool, user or kind",
		Long: `Report usage of past jobs: the number of jobs, how their tasks ended, the unit-hours
(run time multiplied by units held), the percentage of all usage (in the period or, with --by month,
in the month), and the processor time. A run that spans the end of a month is divided. Running tasks
count until now. If a task had several attempts, the last one counts.`,
		Example: `  fairlead report usage --since 2026-01-01 --by month,pool --depth 1
  fairlead report usage --by user --format csv --out usage.csv
  fairlead report usage --since 365d --by month,pool --format html --out usage.html`,
	}, usageSheet)
}

// pastCommand completes a command for a report on past jobs.
func pastCommand(a *app, c *cobra.Command, make sheetOf) *cobra.Command {
	return (&pastReport{app: a}).command(c, make)
}

func (r *pastReport) command(c *cobra.Command, make sheetOf) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		if _, err := r.query(time.Now()); err != nil { // before a server is asked
			return err
		}
		return r.with(func(client *api.Client) error {
			return r.repeat(c.Context(), &r.listing, func() error { return r.show(c.Context(), client, c.CommandPath(), make) })
		})
	}
	r.flags(c)
	return c
}

var reportFormats = []string{"table", "csv", "json", "html"}

// query returns the request that the flags make.
func (r *pastReport) query(now time.Time) (q api.PastQuery, err error) {
	if !slices.Contains(reportFormats, r.format) {
		return q, usagef("--format: %q is not known; known: %s", r.format, strings.Join(reportFormats, ", "))
	}
	for _, by := range r.by {
		if !slices.Contains(account.Dimensions, by) {
			return q, usagef("--by: %q is not known; known: %s", by, strings.Join(account.Dimensions, ", "))
		}
	}
	q = api.PastQuery{By: r.by, Depth: r.depth, Until: now, Zone: zoneName(), Shares: r.shares}
	if q.Since, err = units.ParsePast(r.since, now); err != nil {
		return q, usagef("--since: %w", err)
	}
	if r.until != "" {
		if q.Until, err = units.ParseEnd(r.until, now); err != nil {
			return q, usagef("--until: %w", err)
		}
	}
	if !q.Since.Before(q.Until) {
		return q, usagef("--since must be before --until: %s, %s", q.Since.Format(time.DateTime), q.Until.Format(time.DateTime))
	}
	return q, nil
}

// zoneName returns the time zone of this machine by a name that the server may know: TZ, or the file to which
// /etc/localtime points.
func zoneName() string {
	name := os.Getenv("TZ")
	if target, err := os.Readlink("/etc/localtime"); name == "" && err == nil {
		_, name, _ = strings.Cut(target, "zoneinfo/")
	}
	if _, err := time.LoadLocation(name); err != nil {
		return ""
	}
	return name
}

func (r *pastReport) show(ctx context.Context, client *api.Client, command string, make sheetOf) error {
	q, err := r.query(time.Now())
	if err != nil {
		return err
	}
	doc, err := client.PastReport(ctx, q)
	if err != nil {
		return err
	}
	s := make(doc)
	s.command = fmt.Sprintf("%s --since %s --until %s --by %s --depth %d --format html", command, stamp(doc.Since), stamp(doc.Until), strings.Join(doc.By, ","), r.depth)
	if r.out == "" {
		return r.write(r.app.out, doc, s)
	}
	return writeWhole(r.out, func(w io.Writer) error { return r.write(w, doc, s) })
}

// stamp writes an instant in the format of flags.
func stamp(t time.Time) string { return t.Local().Format("2006-01-02T15:04:05") }

func (r *pastReport) write(w io.Writer, doc *api.PastReport, s *sheet) error {
	to := *r.app
	to.out = w
	switch {
	case r.json || r.format == "json":
		return to.printJSON(s.document(doc))
	case r.format == "csv":
		return s.csv(w, &r.listing)
	case r.format == "html" && len(r.columns) > 0:
		return usagef("--columns: a page has all columns; choose some with --format table or csv")
	case r.format == "html":
		return s.html(w, doc)
	}
	return to.print(&r.listing, s.table())
}
