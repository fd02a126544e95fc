package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/curves"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
)

// past holds the flags for the history of a pool.
type past struct {
	on                           bool
	since, until, step, pictures string
}

func (p *past) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&p.on, "history", false, "show the history of the pool, step by step")
	f.StringVar(&p.since, "since", "24h", "with --history: start: 6h, 90d, 2026-11-01, 08:00")
	f.StringVar(&p.until, "until", "", "with --history: end (default: now)")
	f.StringVar(&p.step, "step", "", "with --history: length of a step: 10s, 5m, 1h (default: about 30 rows)")
	f.StringVar(&p.pictures, "plot", "", "with --history: write charts to this SVG file")
}

// check refuses flags that need --history.
func (p *past) check(c *cobra.Command) error {
	for _, name := range []string{"since", "until", "step", "plot"} {
		if c.Flags().Changed(name) && !p.on {
			return usagef("--%s needs --history", name)
		}
	}
	return nil
}

// pastRows is the approximate number of rows of history.
const pastRows = 30

// span returns the requested time and the length of the steps; 0 leaves the length to the server.
func (p *past) span(now time.Time, fits int) (from, to time.Time, step time.Duration, err error) {
	to = now
	if from, err = units.ParsePast(p.since, now); err != nil {
		return from, to, 0, usagef("--since: %w", err)
	}
	if p.until != "" {
		if to, err = units.ParseEnd(p.until, now); err != nil {
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

// fraction writes a fraction, or - if it is unknown.
func fraction(v *float64) string {
	if v == nil {
		return "-"
	}
	return percent(*v)
}

// longest writes the wait of the oldest job.
func longest(wait float64) string {
	if wait < 0.5 {
		return "-"
	}
	return span(seconds(wait).Round(time.Second))
}

func curveOf(doc *api.PoolHistory) curves.Curve {
	return curves.Curve{
		Name: cmp.Or(words.Pool(doc.Pool), "all pools"), Unit: doc.Unit, From: doc.From, To: doc.To, Step: seconds(doc.StepSeconds), Points: doc.Points, Zone: time.Local,
	}
}
