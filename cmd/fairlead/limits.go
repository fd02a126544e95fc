package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/why"
)

func (a *app) limitsCommand() *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use:   "limits",
		Short: "List licences and rates: what is in use, and what waits for it",
		Long: `List the licences and the rates of the configuration: how much of each is in use, who
holds it, when the next start may come, and how many tasks wait that ask for it.

A job asks for licences with submit --licenses, and names rates with submit --rate; a
rate may also hold for all jobs of a kind.`,
		Example: `  fairlead limits
  fairlead limits --json
  fairlead submit -L matlab:1 -- ./fit      # one matlab for each running task
  fairlead submit --rate linkedin -- ./crawl`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				return a.repeat(c.Context(), &l, func() error { return a.showLimits(c.Context(), client, &l) })
			})
		},
	}
	l.flags(c)
	return c
}

func (a *app) showLimits(ctx context.Context, client *api.Client, l *listing) error {
	doc, err := client.Limits(ctx)
	if err != nil {
		return err
	}
	if l.json {
		return a.printJSON(doc)
	}
	if len(doc.Licenses)+len(doc.Rates) == 0 {
		fmt.Fprintln(a.errs, "no licences and no rates are configured; an administrator adds, for example:\n  licenses: {matlab: 5}\n  rates: {linkedin: 5/s}")
		return nil
	}
	t := table.New(table.Column{Name: "NAME"}, table.Column{Name: "WHAT"}, table.Column{Name: "LIMIT", Right: true}, table.Column{Name: "BURST", Right: true},
		table.Column{Name: "USED", Right: true}, table.Column{Name: "LEFT", Right: true}, table.Column{Name: "WAITING", Right: true}, table.Column{Name: "NEXT START", Right: true}, table.Column{Name: "HELD BY"})
	for _, x := range doc.Licenses {
		t.Row(x.Name, "licence", x.Total, "-", x.Used, max(0, x.Total-x.Used), x.Waiting, "-", dash(holders(x.Holders)))
	}
	for _, x := range doc.Rates {
		limit, left, next := dash(x.Limit), fmt.Sprint(x.Left), "now"
		switch {
		case x.Limit == "":
			left = "-"
		case x.Next != nil:
			next = "in " + why.Duration(x.Next.Sub(doc.At))
		}
		t.Row(x.Name, "rate", limit, x.Burst, "-", left, x.Waiting, next, "-")
	}
	return a.print(l, t)
}

// holders says who holds most of a licence.
func holders(all []why.Holder) string {
	var parts []string
	for _, h := range all {
		parts = append(parts, fmt.Sprintf("%s %d", h.User, h.Count))
	}
	return strings.Join(parts, ", ")
}
