package web

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/why"
)

// limitsShown is how many licences and rates have a row in the picture.
const limitsShown = 12

// limitCourses are how much of licences and rates was used, and by when they are free again.
type limitCourses struct {
	All []fairlead.LimitCourse
	now time.Time
}

// limits adds rows for licences and rates behind those of nodes, and returns their names: each says how much there
// is, which is the height of the row.
func (p *planner) limits(first int) (names []string) {
	for i, c := range p.m.Courses.All {
		if i == limitsShown {
			break
		}
		names = append(names, p.m.limitName(&c))
		for _, s := range c.Past {
			p.level(first+i, &c, s, plot.Level)
		}
		for _, s := range c.Ahead {
			p.level(first+i, &c, s, plot.Reservation)
		}
	}
	return names
}

// limitName is the name of a row, with how much there is.
func (m *Machines) limitName(c *fairlead.LimitCourse) string {
	if !c.Rate {
		return fmt.Sprintf("%s: %s", c.Name, plot.Count(c.Capacity))
	}
	i := slices.IndexFunc(m.Limits.Rates, func(r fairlead.RateView) bool { return r.Name == c.Name })
	if i < 0 {
		return c.Name
	}
	return c.Name + ": " + m.Limits.Rates[i].Limit
}

// level draws for some time how much of a limit is used, from the foot of its row.
func (p *planner) level(row int, c *fairlead.LimitCourse, s fairlead.LimitSpan, kind plot.Kind) {
	until, end := s.Until, "until "+why.Clock(s.Until, p.now)
	if s.Until.IsZero() {
		until, end = p.to, "without an end that is known"
	}
	if c.Capacity <= 0 || !until.After(s.From) {
		return
	}
	part := min(1, s.Used/c.Capacity)
	of := fmt.Sprintf("%s of %s", plot.Count(s.Used), plot.Count(c.Capacity))
	tip := fmt.Sprintf("licence %s: %s in use\nfrom %s %s", c.Name, of, why.Clock(s.From, p.now), end)
	switch {
	case c.Rate && kind == plot.Reservation:
		of = "used up"
		tip = fmt.Sprintf("rate %s: used up by what waits for it\n%s", c.Name, end)
	case c.Rate:
		tip = fmt.Sprintf("rate %s: %s starts in %s\nfrom %s %s", c.Name, of, plot.Duration(c.StepSeconds), why.Clock(s.From, p.now), end)
	case kind == plot.Reservation:
		tip = fmt.Sprintf("licence %s: %s held by what runs now\n%s at most", c.Name, of, end)
	}
	p.boxes = append(p.boxes, plot.Box{Row: row, From: seconds(s.From), To: seconds(until), Label: of, Tip: tip, Kind: kind, Part: [2]float64{1 - part, 1}})
}

// find is the course of a licence or a rate.
func (l limitCourses) find(name string, rate bool) *fairlead.LimitCourse {
	i := slices.IndexFunc(l.All, func(c fairlead.LimitCourse) bool { return c.Name == name && c.Rate == rate })
	if i < 0 {
		return nil
	}
	return &l.All[i]
}

// Lately says how much of a limit was used at most, and when.
func (l limitCourses) Lately(name string, rate bool) template.HTML {
	c := l.find(name, rate)
	if c == nil || len(c.Past) == 0 {
		return data("0", "nothing")
	}
	most := slices.MaxFunc(c.Past, func(a, b fairlead.LimitSpan) int { return cmp.Compare(a.Used, b.Used) })
	text := plot.Count(most.Used) + " of " + plot.Count(c.Capacity)
	if rate {
		text += " starts in " + plot.Duration(c.StepSeconds)
	}
	return data(exact(most.Used), text) + ", " + clock(most.From, l.now)
}

// Free says by when how much is free again; exactly, when all is.
func (l limitCourses) Free(name string, rate bool) template.HTML {
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

// freeText says it in words.
func (l limitCourses) freeText(c *fairlead.LimitCourse, rate bool) string {
	if rate {
		return "what waits takes it until " + why.Clock(c.Ahead[0].Until, l.now)
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
			parts = append(parts, plot.Count(s.Used)+" nobody knows when")
		case i < most-1 || i+1 == len(c.Ahead):
			parts = append(parts, plot.Count(left)+" at "+why.Clock(s.Until, l.now))
		}
	}
	return strings.Join(parts, ", ")
}
