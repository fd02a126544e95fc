package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
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

func (a *app) sharesCommand() *cobra.Command {
	s := &shares{app: a}
	c := &cobra.Command{
		Use:   "shares [POOL | --compare POOL POOL]",
		Short: "Show who is entitled to what, and who had it",
		Long: `Show the tree of pools: the share each is entitled to, what it runs and wants now,
what its fair part of that is, and what it has used.

A WEIGHT of 2=1x2 is 1, boosted twice; see fairlead boost --list. Where MAX says paused
nothing new starts; see fairlead pause --list.

SHARE and USED are of the pool above. USED decays; RATIO is SHARE over USED. FAIR NOW
is what the ideal fluid scheduler would give the pool at this moment: by minimum,
maximum, weight and what it wants. OWED is what that scheduler would have given it in
the last 24 hours less what it received, in hours of the unit: above 0 the pool is
owed, below 0 it is ahead.

On a terminal a line sums up: Jain's index (1 is fair) of what the pools at the top
received over what was due to them; which of them lacks most, in percentage points of
all that was received; who borrows of whose share at this moment, because that one has
nothing to run; and what is idle. --summary prints that line alone, anywhere.

--compare shows the numbers of two pools beside each other; its JSON is that of shares, with
these two.

--history shows how one pool fared, or all together: what was its due, what it ran and
wanted, and how long its oldest job had waited, step by step, as means over each step. It
is kept in steps of 10 s for a day, of 5 m for 31 days, and of an hour for two years. A
row of dashes is a time of which nothing is known: the server was not there. --plot
writes it as pictures, to a file in SVG.`,
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
				return s.repeat(c.Context(), &s.listing, func() error { return s.show(c.Context(), client, pool) })
			})
		},
	}
	s.listing.flags(c)
	s.past.flags(c)
	c.Flags().StringVarP(&s.user, "user", "u", "", "only pools whose last name is this user's")
	c.Flags().BoolVar(&s.compare, "compare", false, "the numbers of two pools, beside each other")
	c.Flags().BoolVar(&s.summary, "summary", false, "one line: how fair things are")
	return c
}

func (s *shares) show(ctx context.Context, client *api.Client, pool string) error {
	doc, err := client.Shares(ctx, pool)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(doc)
	}
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
		fmt.Fprintf(s.out, "%s · %s · %s · configuration %s\n", half, unit, doc.At.Local().Format("15:04:05"), doc.Config)
	}
	t := table.New(table.Column{Name: "POOL"}, table.Column{Name: "POLICY"}, table.Column{Name: "WEIGHT", Right: true}, table.Column{Name: "SHARE", Right: true},
		table.Column{Name: "MIN", Right: true}, table.Column{Name: "MAX", Right: true}, table.Column{Name: "WANT", Right: true},
		table.Column{Name: "RUN", Right: true}, table.Column{Name: "FAIR NOW", Right: true}, table.Column{Name: "OWED", Right: true}, table.Column{Name: "USED", Right: true}, table.Column{Name: "RATIO"})
	for i := range doc.Pools {
		p := &doc.Pools[i]
		if p.Path == "" || s.user != "" && !strings.HasSuffix("/"+p.Path, "/"+s.user) {
			continue
		}
		s.row(t, p, doc.Unit)
	}
	if err := s.print(&s.listing, t); err != nil {
		return err
	}
	if s.terminal() && !s.noHeader {
		fmt.Fprintln(s.out, words.Fairness(doc))
	}
	return nil
}

func (s *shares) row(t *table.Table, p *fairlead.PoolView, unit string) {
	name := p.Path
	if s.terminal() && p.Depth > 1 { // a tree for people, whole paths for programs
		name = strings.Repeat("  ", p.Depth-1) + p.Path[strings.LastIndexByte(p.Path, '/')+1:]
	}
	limit := func(a map[string]int64) string {
		if n, ok := a[unit]; ok {
			return fmt.Sprint(n)
		}
		return dash(amounts(a, unit))
	}
	t.Row(name, p.Policy, words.Weight(p), percent(p.ShareHere), limit(p.Min), maxText(p, limit), why.Short(p.Want),
		why.Short(p.Running), oneDigit(p.FairNow), owed(p.Fairness.Day.Lag()), percent(p.UsedHere), why.OverUnder(p.ShareHere, p.UsedHere))
}

// maxText shows the maximum, the limit to the running tasks, and that nothing new may start.
func maxText(p *fairlead.PoolView, limit func(map[string]int64) string) string {
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
