package web

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plot"
)

// limitHistory holds the past use of licenses and rates, and the instants at which they become free.
type limitHistory struct {
	All []history.LimitSeries
	now time.Time
}

// find returns the time series of a license or a rate.
func (l limitHistory) find(name string, rate bool) *history.LimitSeries {
	i := slices.IndexFunc(l.All, func(c history.LimitSeries) bool { return c.Name == name && c.Rate == rate })
	if i < 0 {
		return nil
	}
	return &l.All[i]
}

// Peak writes the largest use of a limit, and its instant.
func (l limitHistory) Peak(name string, rate bool) template.HTML {
	c := l.find(name, rate)
	if c == nil || len(c.Past) == 0 {
		return data("0", "nothing")
	}
	most := slices.MaxFunc(c.Past, func(a, b history.LimitSpan) int { return cmp.Compare(a.Peak, b.Peak) })
	text := plot.Count(most.Peak) + " of " + plot.Count(c.Capacity)
	if rate {
		text += " starts in " + plot.Duration(c.StepSeconds)
	}
	return data(exact(most.Peak), text) + ", " + clock(most.From, l.now)
}

// Free writes when parts of a limit become free; the exact value is the instant at which all of it is free.
func (l limitHistory) Free(name string, rate bool) template.HTML {
	c := l.find(name, rate)
	if c == nil || len(c.Ahead) == 0 {
		return data("", "now")
	}
	last := ""
	if until := c.Ahead[len(c.Ahead)-1].Until; !until.IsZero() {
		last = until.Format(time.RFC3339Nano)
	}
	return data(last, l.freeText(c, rate))
}

// freeText describes in words when parts of a limit become free.
func (l limitHistory) freeText(c *history.LimitSeries, rate bool) string {
	if rate {
		return "queued starts use it up until " + instant.Clock(c.Ahead[0].Until, l.now)
	}
	const most = 3
	var parts []string
	for i, s := range c.Ahead {
		left := c.Capacity
		if i+1 < len(c.Ahead) {
			left -= c.Ahead[i+1].Used
		}
		switch {
		case s.Until.IsZero():
			parts = append(parts, plot.Count(s.Used)+" unknown (no time limit)")
		case i < most-1 || i+1 == len(c.Ahead):
			parts = append(parts, plot.Count(left)+" at "+instant.Clock(s.Until, l.now))
		}
	}
	return strings.Join(parts, ", ")
}
