package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/why"
)

func limitsCommand(a *app) *cobra.Command {
	var l listing
	var users bool
	c := &cobra.Command{
		Use:   "limits",
		Short: "List licenses and rates, or users, with their usage and waiting tasks",
		Long: `List the licenses and rates of the configuration: how much of each is in use, who holds it,
when the next start is possible, and how many waiting tasks ask for it.

A job asks for licenses with submit --licenses and for rates with submit --rate; a rate can
also apply to all jobs of a kind.

With --users, list the users who have jobs: their running tasks, their waiting jobs and tasks, and
the pools that the server created for their jobs. Beside each number is its limit (user_limits in
the configuration).`,
		Example: `  fairlead limits
  fairlead limits --users                   # whose tasks run, the user with the most of them first
  fairlead submit -L matlab:1 -- ./fit      # one matlab for each running task
  fairlead submit --rate linkedin -- ./crawl`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				return a.repeat(c.Context(), &l, func() error {
					return show(a, l.json, func(doc *api.Limits) error {
						if users {
							return printUsers(a, &l, doc)
						}
						return printLimits(a, &l, doc)
					})(client.Nodes.Limits(c.Context(), users))
				})
			})
		},
	}
	l.flags(c)
	c.Flags().BoolVar(&users, "users", false, "list the users who have jobs, with the limits per user")
	return c
}

// printUsers lists the jobs, tasks and pools of users, beside the limits per user.
func printUsers(a *app, l *listing, doc *api.Limits) error {
	number := func(name string) table.Column { return table.Column{Name: name, Right: true} }
	t := table.New(table.Column{Name: "USER"}, number("RUNNING"), number("WAITING JOBS"),
		number("WAITING TASKS"), number("POOLS MADE"))
	for _, u := range doc.Users {
		of := func(n int64, field string) string {
			if most := doc.UserLimits[field]; most > 0 {
				return fmt.Sprintf("%d of %d", n, most)
			}
			return fmt.Sprint(n)
		}
		t.Row(plain.Line(u.User), of(u.Running, "running"), of(u.Jobs, "jobs"), of(u.Tasks, "tasks"),
			of(int64(u.Pools), "pools"))
	}
	return a.print(l, t)
}

func printLimits(a *app, l *listing, doc *api.Limits) error {
	if len(doc.Licenses)+len(doc.Rates) == 0 {
		fmt.Fprintln(a.errs, "no licenses and no rates are configured; an administrator adds, for example:\n  licenses: {matlab: 5}\n  rates: {linkedin: 5/s}")
		return nil
	}
	t := table.New(table.Column{Name: "NAME"}, table.Column{Name: "WHAT"}, table.Column{Name: "LIMIT", Right: true}, table.Column{Name: "BURST", Right: true},
		table.Column{Name: "USED", Right: true}, table.Column{Name: "LEFT", Right: true}, table.Column{Name: "WAITING", Right: true}, table.Column{Name: "NEXT START", Right: true}, table.Column{Name: "HELD BY"})
	for _, x := range doc.Licenses {
		t.Row(x.Name, "license", x.Total, "-", x.Used, max(0, x.Total-x.Used), x.Waiting, "-", dash(holders(x.Holders)))
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

// holders writes the largest holders of a license.
func holders(all []why.Holder) string {
	var parts []string
	for _, h := range all {
		parts = append(parts, fmt.Sprintf("%s %d", h.User, h.Count))
	}
	return strings.Join(parts, ", ")
}
