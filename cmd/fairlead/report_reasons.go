package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

// waitReasons is the report on the reasons for which pools waited lately.
type waitReasons struct {
	*pastReport
	reasons bool
}

// waitReasonsDoc is its JSON.
type waitReasonsDoc struct {
	Version int                  `json:"version"`
	At      time.Time            `json:"at"`
	Since   *time.Time           `json:"since"`
	Reasons []explain.WaitReason `json:"reasons"`
}

func reportWaitsCommand(a *app) *cobra.Command {
	r := &waitReasons{pastReport: &pastReport{app: a}}
	c := r.command(&cobra.Command{
		Use:   "waits",
		Short: "Report waiting times per month, pool, user or kind",
		Long: `Report how long tasks waited before their first start, from their submission or their begin
time: mean, median, 95th percentile and maximum. Jobs with dependencies (submit --after) are
left out.

With --reasons, report for which reasons each pool waited in the last hour, and how long. The
server samples the first waiting job of each pool, or of each priority in it, and keeps the samples in
memory: after a restart the report begins anew. fairlead explain CODE says more about a reason.`,
		Example: `  fairlead report waits --by kind
  fairlead report waits --reasons
  fairlead report waits --since 2026-01-01 --by month,pool --format html --out waits.html`,
	}, waitsSheet)
	past := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if r.reasons {
			return r.run(c)
		}
		return past(c, args)
	}
	c.Flags().BoolVar(&r.reasons, "reasons", false, "the reasons for which each pool waited in the last hour")
	return c
}

func (r *waitReasons) run(c *cobra.Command) error {
	for _, name := range []string{"since", "until", "by", "depth"} {
		if c.Flags().Changed(name) {
			return usagef("--reasons always covers the last hour of each pool; leave out --%s", name)
		}
	}
	if !slices.Contains([]string{"table", "csv", "json"}, r.format) {
		return usagef("--format: %q is not known with --reasons; known: table, csv, json", r.format)
	}
	return r.with(func(client *api.Client) error {
		return r.repeat(c.Context(), &r.listing, func() error { return r.report(c.Context(), client) })
	})
}

func (r *waitReasons) report(ctx context.Context, client *api.Client) error {
	var shares api.Shares
	if err := client.Call(ctx, http.MethodGet, "/v1/shares?waits=true", nil, &shares); err != nil {
		return err
	}
	doc := &waitReasonsDoc{api.Version, shares.At, shares.WaitsSince, shares.Waits}
	if doc.Reasons == nil { // an empty list is left out of the answer
		doc.Reasons = []explain.WaitReason{}
	}
	if r.out == "" {
		return r.write(r.app.out, doc)
	}
	return writeWhole(r.out, func(w io.Writer) error { return r.write(w, doc) })
}

func (r *waitReasons) write(w io.Writer, doc *waitReasonsDoc) error {
	to := *r.app
	to.out = w
	if r.json || r.format == "json" {
		return to.printJSON(doc)
	}
	if plain.Lines(doc); r.format == "csv" {
		return r.csv(doc).write(w, &r.listing)
	}
	if len(doc.Reasons) == 0 && to.terminal() {
		_, err := fmt.Fprintln(w, "no pool waited since", doc.Since.Local().Format(time.TimeOnly))
		return err
	}
	t := table.New(table.Column{Name: "POOL"}, table.Column{Name: "REASON", Whole: true},
		table.Column{Name: "WAITED", Right: true}, table.Column{Name: "PART", Right: true},
		table.Column{Name: "LAST", Whole: true, Spare: 1}, table.Column{Name: "TEXT"})
	for _, x := range doc.Reasons {
		t.Row(words.Pool(rootSlash(x.Pool)), x.Code, span(seconds(x.Seconds).Round(time.Second)), percent(doc.part(x)),
			x.Last.Local().Format(time.TimeOnly), x.Text)
	}
	return to.print(&r.listing, t)
}

// part returns the part of the reported time for which a reason lasted.
func (d *waitReasonsDoc) part(x explain.WaitReason) float64 {
	return min(1, partOf(x.Seconds, d.At.Sub(*d.Since).Seconds()))
}

func (r *waitReasons) csv(doc *waitReasonsDoc) *csvTable {
	t := &csvTable{keys: []string{"pool", "reason", "waited_seconds", "part", "last", "text"},
		names: []string{"pool", "reason", "waited", "part", "last", "text"}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	for _, x := range doc.Reasons {
		t.rows = append(t.rows, []string{plain.Cell(rootSlash(x.Pool)), string(x.Code), number(x.Seconds),
			number(doc.part(x)), x.Last.Format(time.RFC3339), plain.Cell(x.Text)})
	}
	return t
}
