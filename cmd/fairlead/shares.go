package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

type shares struct {
	*app
	listing
	user    string
	summary bool
	compare bool
	past    past
}

func sharesCommand(a *app) *cobra.Command {
	s := &shares{app: a}
	c := &cobra.Command{
		Use:   "shares [POOL | --compare POOL POOL]",
		Short: "Show the shares and the usage of pools",
		Long: `Show the tree of pools: the share, the running tasks, the demand, the present entitlement and
the usage of each pool.

A WEIGHT of 2=1x2 is a weight of 1 with a boost of 2; see fairlead boost --list. If MAX says
paused, no new task of the pool starts; see fairlead pause --list.

ENTITLED is how much the pool should have now: its share by weight and its part of what other
pools leave unused, limited by its demand, its minimum and its maximum.
SERVED is the service that the pool received over the last 24 hours, divided by the service that
it was entitled to. LAG is the service that it was entitled to, less the service that it
received, in hours of one unit, such as cpu-hours: above 0 it received too little.

COMPARED BY is the key with which the policy of the parent pool orders the pool among its
siblings: it decides which pool is next. It is empty if the pool has nothing to start. SHARE and
PAST USE are fractions of the parent pool. Past use decays, and only some policies count it.

On a terminal, a line below the table sums up: the mean of SERVED over the top pools, the pool
with the smallest SERVED, Jain's index of SERVED (1 is fair), the pools that use the shares of
pools without work, and the idle slots. --summary prints only that line.

--compare shows the numbers of two pools beside each other; with --json it prints the JSON of shares
for these two pools only.

--history shows one pool, or the cluster, over time: its entitlement, running tasks, demand
and the wait of its oldest job, as averages over each step. History is kept in steps of 10 s for
a day, of 5 m for 31 days, and of an hour for two years. A row of dashes means that the server
was down. --plot writes charts to an SVG file.`,
		Example: `  fairlead shares
  fairlead shares physics --watch
  fairlead shares --summary
  fairlead shares --compare physics biology
  fairlead shares --history physics --since 6h
  fairlead shares --history physics --since 90d --plot physics.svg`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			pool := strings.Join(args, "")
			if err := cmp.Or(s.past.check(c), s.checkCompare(args)); err != nil {
				return err
			}
			return s.with(func(client *api.Client) error {
				if s.past.on {
					return s.repeat(c.Context(), &s.listing, func() error { return s.showPast(c.Context(), client, pool) })
				}
				if s.compare {
					return s.repeat(c.Context(), &s.listing, func() error { return s.showCompared(c.Context(), client, args) })
				}
				return s.repeat(c.Context(), &s.listing, func() error {
					return show(s.app, s.json, s.tree)(client.Pools.Shares(c.Context(), pool))
				})
			})
		},
	}
	s.listing.flags(c)
	s.past.flags(c)
	c.Flags().StringVarP(&s.user, "user", "u", "", "only pools with the name of this user")
	c.Flags().BoolVar(&s.compare, "compare", false, "compare the numbers of two pools")
	c.Flags().BoolVar(&s.summary, "summary", false, "print one line that sums up fairness")
	return c
}

func (s *shares) tree(doc *api.Shares) error {
	plain.Lines(doc)
	if s.summary {
		_, err := fmt.Fprintln(s.out, words.Fairness(doc))
		return err
	}
	if s.terminal() && !s.noHeader {
		half := "usage does not decay"
		if doc.HalfLifeSeconds > 0 {
			half = "half-life " + span(seconds(doc.HalfLifeSeconds))
		}
		unit := "unit " + doc.Unit
		if doc.UsageUnit != "" && doc.UsageUnit != doc.Unit {
			unit += ", use in " + doc.UsageUnit
		}
		fmt.Fprintf(s.out, "%s · %s · %s · configuration %s\n", half, unit, doc.At.Local().Format("15:04:05 MST"), doc.Config)
	}
	number := func(name string, spare int) table.Column { return table.Column{Name: name, Right: true, Spare: spare} }
	t := table.New(table.Column{Name: "POOL"}, table.Column{Name: "POLICY", Spare: 9}, number("WEIGHT", 4),
		number("SHARE", 0), number("MIN", 5), number("MAX", 5), number("DEMAND", 0), number("RUN", 0),
		number("ENTITLED", 0), number("SERVED", 3), number("LAG", 1),
		table.Column{Name: "COMPARED BY", Whole: true, Spare: 7},
		number("PAST USE", 6))
	var shown []string
	for i := range doc.Pools {
		p := &doc.Pools[i]
		if p.Path == "" || s.user != "" && !strings.HasSuffix("/"+p.Path, "/"+share.UserPool(s.user)) {
			continue
		}
		s.row(t, p, doc.Unit)
		shown = append(shown, p.Path)
	}
	if err := s.print(&s.listing, t); err != nil {
		return err
	}
	s.escaped(shown)
	if s.terminal() && !s.noHeader {
		fmt.Fprintln(s.out, words.Fairness(doc))
	}
	return nil
}

// escaped prints how the configuration writes the names of pools that need escapes.
func (s *shares) escaped(paths []string) {
	if s.noHeader || len(s.columns) > 0 {
		return
	}
	for _, path := range paths {
		if escaped := words.Escaped(path); escaped != "" {
			fmt.Fprintf(s.out, "%s is %s in the configuration\n", words.Pool(path), escaped)
		}
	}
}

func (s *shares) row(t *table.Table, p *views.PoolView, unit string) {
	name := words.Pool(p.Path)
	if s.terminal() && p.Depth > 1 { // a tree for people, whole paths for programs
		name = strings.Repeat("  ", p.Depth-1) + words.LastPool(p.Path)
	}
	limit := func(a map[string]int64) string {
		if n, ok := a[unit]; ok {
			return fmt.Sprint(n)
		}
		return dash(amounts(a, unit))
	}
	t.Row(name, p.Policy, words.Weight(p), percent(p.ShareHere), limit(p.Min), maxText(p, limit), why.Short(p.Want),
		why.Short(p.Running), oneDigit(p.FairNow), percent(p.Fairness.Day.Served), owed(p.Fairness.Day.Lag()),
		dash(words.ComparedBy(p)), percent(p.UsedHere))
}

// checkCompare refuses flags and arguments that do not go with two pools.
func (s *shares) checkCompare(pools []string) error {
	switch {
	case !s.compare && len(pools) > 1:
		return usagef("more than one pool is given; to compare two pools, add --compare")
	case s.compare && len(pools) != 2:
		return usagef("--compare takes two pools: fairlead shares --compare physics biology")
	case s.compare && (s.past.on || s.summary || s.user != ""):
		return usagef("--compare cannot be combined with --history, --summary or --user")
	}
	return nil
}

// showCompared prints the numbers of two pools beside each other.
func (s *shares) showCompared(ctx context.Context, client *api.Client, pools []string) error {
	doc, err := client.Pools.Shares(ctx, pools[0])
	if err != nil {
		return err
	}
	other, err := client.Pools.Shares(ctx, pools[1])
	if err != nil {
		return err
	}
	doc.Pools = append(doc.Pools[:1:1], other.Pools[0])
	if s.json {
		return s.printJSON(doc)
	}
	a, b := &doc.Pools[0], &doc.Pools[1]
	t := table.New(table.Column{Name: "NUMBER"}, table.Column{Name: words.Pool(a.Path), Right: true},
		table.Column{Name: words.Pool(b.Path), Right: true})
	for _, row := range words.Compare(doc, a, b) {
		t.Row(row.Name, dash(row.Of[0]), dash(row.Of[1]))
	}
	return s.print(&s.listing, t)
}

func (s *shares) showPast(ctx context.Context, client *api.Client, pool string) error {
	rows := pastRows
	if s.json || s.past.pictures != "" {
		rows = 0
	}
	from, to, step, err := s.past.span(time.Now(), rows)
	if err != nil {
		return err
	}
	doc, err := client.Pools.History(ctx, pool, from, to, step)
	if err != nil {
		return err
	}
	if s.past.pictures != "" {
		return s.drawPast(doc)
	}
	if s.json {
		return s.printJSON(doc)
	}
	t := table.New(table.Column{Name: "TIME"}, table.Column{Name: "SHARE", Right: true}, table.Column{Name: "USED", Right: true},
		table.Column{Name: "ENTITLED", Right: true}, table.Column{Name: "RUN", Right: true}, table.Column{Name: "DEMAND", Right: true},
		table.Column{Name: "WAITING", Right: true}, table.Column{Name: "OLDEST", Right: true})
	length := seconds(doc.StepSeconds)
	for i := range doc.Points {
		p := &doc.Points[i]
		if i > 0 && p.At.After(doc.Points[i-1].At.Add(length)) {
			t.Row(clock(doc.Points[i-1].At.Add(length), doc.At), "-", "-", "-", "-", "-", "-", "-")
		}
		t.Row(clock(p.At, doc.At), fraction(p.Share), fraction(p.Used), oneDigit(p.FairNow), oneDigit(p.Running), oneDigit(p.Demand),
			oneDigit(p.Waiting), longest(p.OldestWait))
	}
	if s.terminal() && !s.noHeader {
		fmt.Fprintf(s.out, "%s · unit %s · steps of %s\n", cmp.Or(words.Pool(doc.Pool), "all pools"), doc.Unit, span(length))
	}
	return s.print(&s.listing, t)
}

// drawPast writes the charts.
func (s *shares) drawPast(doc *api.PoolHistory) error {
	c := curveOf(doc)
	if err := os.WriteFile(s.past.pictures, []byte(plot.SVG(c.All())), 0o644); err != nil {
		return err
	}
	if s.json {
		return s.printJSON(doc)
	}
	_, err := fmt.Fprintf(s.out, "wrote %s: %d steps of %s\n", s.past.pictures, len(doc.Points), span(c.Step))
	return err
}

// maxText writes the maximum, the limit on running tasks, and whether the pool is paused.
func maxText(p *views.PoolView, limit func(map[string]int64) string) string {
	var parts []string
	if len(p.Max) > 0 {
		parts = append(parts, limit(p.Max))
	}
	if p.MaxRunning > 0 {
		parts = append(parts, fmt.Sprintf("%d tasks", p.MaxRunning))
	}
	if p.Paused != nil {
		parts = append(parts, "paused")
	}
	return dash(strings.Join(parts, ", "))
}
