package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

type shares struct {
	*app
	listing
	user string
}

func (a *app) sharesCommand() *cobra.Command {
	s := &shares{app: a}
	c := &cobra.Command{
		Use:   "shares [POOL]",
		Short: "Show who is entitled to what, and who had it",
		Long: `Show the tree of pools: the share each is entitled to, what it runs and wants now,
what its fair part of that is, and what it has used.

SHARE and USED are of the pool above. USED decays; RATIO is SHARE over USED. FAIR NOW
is what the ideal fluid scheduler would give the pool at this moment: by weight, capped
by what it wants.`,
		Example: "  fairlead shares\n  fairlead shares physics --watch",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			pool := strings.Join(args, "")
			return s.with(func(client *api.Client) error {
				return s.repeat(c.Context(), &s.listing, func() error { return s.show(c.Context(), client, pool) })
			})
		},
	}
	s.listing.flags(c)
	c.Flags().StringVarP(&s.user, "user", "u", "", "only pools whose last name is this user's")
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
	if s.terminal() && !s.noHeader {
		half := "usage does not decay"
		if doc.HalfLifeSeconds > 0 {
			half = "half-life " + span(seconds(doc.HalfLifeSeconds))
		}
		fmt.Fprintf(s.out, "%s · unit %s · %s · configuration %s\n", half, doc.Unit, doc.At.Local().Format("15:04:05"), doc.Config)
	}
	t := table.New(table.Column{Name: "POOL"}, table.Column{Name: "POLICY"}, table.Column{Name: "WEIGHT", Right: true}, table.Column{Name: "SHARE", Right: true},
		table.Column{Name: "MIN", Right: true}, table.Column{Name: "MAX", Right: true}, table.Column{Name: "WANT", Right: true},
		table.Column{Name: "RUN", Right: true}, table.Column{Name: "FAIR NOW", Right: true}, table.Column{Name: "USED", Right: true}, table.Column{Name: "RATIO"})
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
		s.foot(doc)
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
	t.Row(name, p.Policy, why.Short(p.Weight), percent(p.ShareHere), limit(p.Min), maxText(p, limit), why.Short(p.Want),
		why.Short(p.Running), oneDigit(p.FairNow), percent(p.UsedHere), why.OverUnder(p.ShareHere, p.UsedHere))
}

// maxText shows the maximum, and the limit to the running tasks.
func maxText(p *fairlead.PoolView, limit func(map[string]int64) string) string {
	if p.MaxRunning == 0 {
		return limit(p.Max)
	}
	tasks := fmt.Sprintf("%d tasks", p.MaxRunning)
	if len(p.Max) == 0 {
		return tasks
	}
	return limit(p.Max) + ", " + tasks
}

// foot sums up how fair things are at this moment.
func (s *shares) foot(doc *api.Shares) {
	var running, entitled []float64
	borrowed, idle := 0.0, doc.Summary.Free[doc.Unit]
	for _, p := range doc.Pools {
		if p.Depth == 1 && p.Want > 0 {
			running, entitled = append(running, p.Running), append(entitled, p.FairNow)
			borrowed += max(0, p.Running-p.FairNow)
		}
	}
	fmt.Fprintf(s.out, "now: Jain's index %.2f · %s %s run above the fair part · %d %s idle\n",
		usage.Jain(running, entitled), oneDigit(borrowed), doc.Unit, idle, doc.Unit)
}

func percent(f float64) string { return fmt.Sprintf("%.1f%%", 100*f) }

func oneDigit(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }
