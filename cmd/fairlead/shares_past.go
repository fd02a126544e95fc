package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/curves"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
)

// past is what is asked about the history of a pool.
type past struct {
	on                           bool
	since, until, step, pictures string
}

func (p *past) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&p.on, "history", false, "how the pool fared, step by step")
	f.StringVar(&p.since, "since", "24h", "with --history: from when on: 6h, 90d, 2026-11-01, 08:00")
	f.StringVar(&p.until, "until", "", "with --history: until when (default: now)")
	f.StringVar(&p.step, "step", "", "with --history: how long each step is: 10s, 5m, 1h (default: about 30 rows)")
	f.StringVar(&p.pictures, "plot", "", "with --history: write pictures to this file, in SVG")
}

// check refuses what goes with --history only.
func (p *past) check(c *cobra.Command) error {
	for _, name := range []string{"since", "until", "step", "plot"} {
		if c.Flags().Changed(name) && !p.on {
			return usagef("--%s goes with --history", name)
		}
	}
	return nil
}

// pastRows is about how many rows of history are shown.
const pastRows = 30

// span is the time that is asked for, and the length of the steps; 0 lets the server decide.
func (p *past) span(now time.Time, fits int) (from, to time.Time, step time.Duration, err error) {
	to = now
	if from, err = units.ParsePast(p.since, now); err != nil {
		return from, to, 0, usagef("--since: %w", err)
	}
	if p.until != "" {
		if to, err = units.ParsePast(p.until, now); err != nil {
			return from, to, 0, usagef("--until: %w", err)
		}
	}
	if p.step != "" {
		if step, err = units.ParseDuration(p.step); err == nil && step <= 0 {
			err = fmt.Errorf("%q is not above 0", p.step)
		}
		if err != nil {
			return from, to, 0, usagef("--step: %w", err)
		}
		return from, to, step, nil
	}
	if fits > 0 {
		step = time.Duration(plot.RoundTime(to.Sub(from).Seconds()/float64(fits)) * float64(time.Second))
	}
	return from, to, step, nil
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
	doc, err := client.PoolHistory(ctx, pool, from, to, step)
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
		table.Column{Name: "DUE", Right: true}, table.Column{Name: "RUN", Right: true}, table.Column{Name: "WANT", Right: true},
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
		fmt.Fprintf(s.out, "%s · unit %s · steps of %s\n", cmp.Or(doc.Pool, "all pools"), doc.Unit, span(length))
	}
	return s.print(&s.listing, t)
}

// fraction writes one that is not known everywhere.
func fraction(v *float64) string {
	if v == nil {
		return "-"
	}
	return percent(*v)
}

// longest writes how long the oldest job had waited.
func longest(wait float64) string {
	if wait < 0.5 {
		return "-"
	}
	return span(seconds(wait).Round(time.Second))
}

// drawPast writes the pictures.
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

func curveOf(doc *api.PoolHistory) curves.Curve {
	return curves.Curve{
		Name: cmp.Or(doc.Pool, "all pools"), Unit: doc.Unit, From: doc.From, To: doc.To, Step: seconds(doc.StepSeconds), Points: doc.Points, Zone: time.Local,
	}
}
