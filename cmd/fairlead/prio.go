package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

// prio prints the priorities of jobs, term by term.
type prio struct {
	*app
	listing
	selection
	limit int
}

func prioCommand(a *app) *cobra.Command {
	p := &prio{app: a}
	c := &cobra.Command{
		Use:   "prio [JOB...]",
		Short: "List the priorities of waiting jobs, term by term (policy multifactor)",
		Long: `List the waiting jobs under the policy multifactor with their priorities, in the order in
which they would start. The terms add up to the priority; NICE is subtracted. Each term is a
weight, as configured under multifactor, times a factor.`,
		Example: `  fairlead prio
  fairlead prio -u ann
  fairlead prio 1042 --json`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.with(func(client *api.Client) error {
				return p.repeat(c.Context(), &p.listing, func() error { return p.show(c.Context(), client, args) })
			})
		},
	}
	p.listing.flags(c)
	f := c.Flags()
	f.StringVarP(&p.user, "user", "u", "", "jobs of this user")
	f.StringVarP(&p.pool, "pool", "A", "", "jobs of this pool and those below it")
	f.StringVarP(&p.kind, "kind", "k", "", "jobs of this kind")
	f.IntVar(&p.limit, "limit", 1000, "maximum number of jobs")
	return c
}

func (p *prio) show(ctx context.Context, client *api.Client, args []string) error {
	v, err := p.of(args)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		v["state"] = openStates
	}
	v.Set("rank", "true")
	v.Set("limit", strconv.Itoa(p.limit))
	list, err := client.Jobs.List(ctx, v)
	if err != nil {
		return err
	}
	words.SortQueue(list.Jobs)
	jobs := list.Jobs[:0]
	for _, j := range list.Jobs {
		if j.Points != nil {
			jobs = append(jobs, j)
		}
	}
	list.Jobs = jobs
	if p.json {
		return p.printJSON(list)
	}
	if len(jobs) == 0 {
		fmt.Fprintln(p.errs, "no job waits under the policy multifactor")
		return nil
	}
	if err := p.print(&p.listing, prioTable(jobs)); err != nil {
		return err
	}
	if list.More {
		fmt.Fprintf(p.errs, "there are more than %d jobs; see them with --limit, -u or -A\n", p.limit)
	}
	return nil
}

func prioTable(jobs []api.Job) *table.Table {
	columns := []table.Column{{Name: "JOB", Right: true}, {Name: "USER"}, {Name: "POOL"}, {Name: "RANK", Right: true}, {Name: "PRIORITY", Right: true}}
	var names []string
	for _, term := range jobs[0].Terms {
		names = append(names, term.Name)
		columns = append(columns, table.Column{Name: strings.ToUpper(term.Name), Right: true})
	}
	t := table.New(columns...)
	for i := range jobs {
		j := &jobs[i]
		terms := map[string]why.Number{}
		for _, term := range j.Terms {
			terms[term.Name] = term.Value
		}
		t.Row(priorityRow(names, []any{j.ID, j.User, words.Pool(j.Pool), words.Rank(j)}, j.Points, terms)...)
	}
	return t
}
