package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

type boost struct {
	*app
	listing
	lasts, usage, reason string
	list, dry            bool
	cancel               int64
}

func boostCommand(a *app) *cobra.Command {
	s := &boost{app: a}
	c := &cobra.Command{
		Use:   "boost POOL xN [--for TIME] [--usage TIME] [--reason TEXT]",
		Short: "Give a pool more weight for a time",
		Long: `Give a pool more weight, or less, for a time (--for) or until it has received some service (--usage).
--usage 10h is ten hours of one slot, or one hour of ten slots. With both flags the boost ends when
the first limit is reached. A boost survives a restart of the server. POOL is the path of a
pool, or a user for the user's pool.

A boost applies from now on: it does not make up for service that the pool missed before.
While it lasts, shares and why show it.`,
		Example: `  fairlead boost physics x2 --for 6h --reason 'deadline of the workshop'
  fairlead boost ann x3 --for 2d --usage 100h
  fairlead boost physics x2 --for 6h --dry-run
  fairlead boost batch x0.5 --for 1h
  fairlead boost --list
  fairlead boost --cancel 3`,
		RunE: func(c *cobra.Command, args []string) error {
			return s.with(func(client *api.Client) error { return s.run(c, client, args) })
		},
	}
	f := c.Flags()
	f.StringVar(&s.lasts, "for", "", "duration: 6h, 2d, 90m")
	f.StringVar(&s.usage, "usage", "", "end the boost when the pool has received this many slot-hours: 10h")
	f.StringVar(&s.reason, "reason", "", "reason to show")
	f.BoolVar(&s.dry, "dry-run", false, "show how shares and the order of starts would change; change nothing")
	f.BoolVar(&s.list, "list", false, "list the current boosts")
	f.Int64Var(&s.cancel, "cancel", 0, "end the boost with this number now")
	s.listing.flags(c)
	return c
}

func (s *boost) run(c *cobra.Command, client *api.Client, args []string) error {
	ctx := c.Context()
	switch {
	case s.list && s.cancel != 0:
		return usagef("--list and --cancel cannot be combined")
	case (s.list || s.cancel != 0) && len(args) > 0:
		return usagef("--list and --cancel take no pool")
	case s.list:
		return s.repeat(ctx, &s.listing, func() error { return show(s.app, s.json, s.table)(client.Pools.Boosts(ctx)) })
	case s.cancel != 0:
		return show(s.app, s.json, s.ended)(client.Pools.Unboost(ctx, s.cancel))
	case len(args) != 2:
		return usagef("expected a pool and a factor: fairlead boost physics x2 --for 6h")
	}
	r := api.BoostRequest{Pool: args[0], Reason: s.reason, DryRun: s.dry}
	var err error
	if r.Factor, err = config.ParseFactor(args[1]); err != nil {
		return usageError{err}
	}
	for _, x := range []struct {
		flag, text string
		to         *float64
	}{{"for", s.lasts, &r.ForSeconds}, {"usage", s.usage, &r.UsageSeconds}} {
		if x.text == "" {
			continue
		}
		d, err := units.ParseDuration(x.text)
		if err == nil && d <= 0 {
			err = fmt.Errorf("must be more than 0")
		}
		if err != nil {
			return usagef("--%s: %w", x.flag, err)
		}
		*x.to = d.Seconds()
	}
	if r.ForSeconds == 0 && r.UsageSeconds == 0 {
		return usagef("a boost has to end: give it --for 6h, --usage 10h, or both")
	}
	if s.dry {
		return show(s.app, s.json, s.would)(client.Pools.Boost(ctx, r))
	}
	return show(s.app, s.json, s.begun)(client.Pools.Boost(ctx, r))
}

func (s *boost) begun(out *api.BoostResponse) error {
	plain.Lines(out)
	fmt.Fprintf(s.out, "boost %d: %s x%s %s\n", out.Boost.ID, words.Pool(out.Boost.Pool), why.Short(out.Boost.Factor), ends(&out.Boost, time.Now()))
	s.changed(out)
	fmt.Fprintf(s.out, "undo: fairlead boost --cancel %d\n", out.Boost.ID)
	return nil
}

// would prints the changes that a boost would make.
func (s *boost) would(out *api.BoostResponse) error {
	plain.Lines(out)
	fmt.Fprintf(s.out, "%s x%s %s would change\n", words.Pool(out.Boost.Pool), why.Short(out.Boost.Factor),
		ends(&out.Boost, time.Now()))
	s.changed(out)
	for i, pool := range slices.Sorted(maps.Keys(out.Siblings)) {
		if i == shown {
			fmt.Fprintf(s.out, "  … and %d more\n", len(out.Siblings)-shown)
			break
		}
		x := out.Siblings[pool]
		fmt.Fprintf(s.out, "  %s: share %s -> %s\n", words.Pool(pool), percent(x.Old), percent(x.New))
	}
	if out.Order != nil {
		printMoved(s.out, out.Order.Jobs)
		printOthers(s.out, out.Order)
	}
	fmt.Fprintln(s.out, "nothing was changed")
	return nil
}

// changed prints the change of weight and share.
func (s *boost) changed(out *api.BoostResponse) {
	fmt.Fprintf(s.out, "weight %s -> %s, share %s -> %s\n", why.Short(out.Weight.Old), why.Short(out.Weight.New), percent(out.Share.Old), percent(out.Share.New))
	if out.Weight.New == 0 {
		fmt.Fprintln(s.out, "the pool has the weight 0, so the boost has no effect")
	}
}

// ends says when a boost ends.
func ends(b *engine.Boost, now time.Time) string {
	var parts []string
	if !b.Until.IsZero() {
		parts = append(parts, fmt.Sprintf("until %s (in %s)", instant.Clock(b.Until, now), why.Duration(b.Until.Sub(now).Round(time.Second))))
	}
	if b.Usage > 0 {
		parts = append(parts, fmt.Sprintf("until %s are used", units.FormatDuration(seconds(b.Usage))))
	}
	return strings.Join(parts, ", or ")
}

func (s *boost) ended(out *api.BoostResponse) error {
	b := &out.Boost
	fmt.Fprintf(s.out, "ended boost %d of %s\n", b.ID, words.Pool(b.Pool))
	s.changed(out)
	undo := fmt.Sprintf("fairlead boost %s x%s", words.ShellPool(b.Pool), strconv.FormatFloat(b.Factor, 'f', -1, 64))
	if left := time.Until(b.Until).Round(time.Minute); !b.Until.IsZero() && left > 0 {
		undo += " --for " + units.FormatDuration(left)
	}
	if b.Usage > 0 {
		undo += " --usage " + units.FormatDuration(seconds(b.Usage-b.Had).Round(time.Second))
	}
	fmt.Fprintf(s.out, "undo: %s%s\n", undo, words.ReasonFlag(b.Reason))
	return nil
}

func (s *boost) table(doc *api.Boosts) error {
	t := table.New(table.Column{Name: "ID", Right: true}, table.Column{Name: "POOL"}, table.Column{Name: "FACTOR", Right: true},
		table.Column{Name: "BEGAN"}, table.Column{Name: "UNTIL"}, table.Column{Name: "USED", Right: true}, table.Column{Name: "OF", Right: true},
		table.Column{Name: "BY"}, table.Column{Name: "REASON"})
	for i := range doc.Boosts {
		b := &doc.Boosts[i]
		until, of := "", ""
		if !b.Until.IsZero() {
			until = instant.Clock(b.Until, doc.At)
		}
		if b.Usage > 0 {
			of = why.Short(b.Usage/3600) + "h"
		}
		t.Row(fmt.Sprint(b.ID), words.Pool(b.Pool), "x"+why.Short(b.Factor), instant.Clock(b.Began, doc.At), dash(until), boosted(b.Had), dash(of), dash(b.By), dash(b.Reason))
	}
	return s.print(&s.listing, t)
}

// boosted writes received service in hours, short enough for a column.
func boosted(seconds float64) string {
	if h := seconds / 3600; h >= 0.01 || h == 0 {
		return why.Short(h) + "h"
	}
	return "<0.01h"
}
