package web

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/curves"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
)

// poolHistory holds the history of a pool as charts.
type poolHistory struct {
	Spans []sortLink
	// Moves link to neighboring ranges, and Back links from a chosen range to all.
	Moves []sortLink
	Back  string
	// Since and Until are the shown range, in the form of form fields, and Kept holds the other parameters of
	// the address.
	Since, Until string
	Kept         []field
	Figures      []plot.Figure
	Problem      string
	Empty        bool // no history of that time
	Chosen       bool // the user chose the range, not a number of hours
}

// youngest returns the number of hours that a picture must cover to show all known history of a day.
func youngest(doc *api.PoolHistory) int {
	if len(doc.Points) == 0 {
		return 24
	}
	age := doc.To.Sub(doc.Points[0].At).Hours()
	return historyHours[slices.IndexFunc(historyHours, func(h int) bool { return float64(h) >= age || h == 24 })]
}

// historyHours holds the numbers of hours that curves may cover.
var historyHours = []int{1, 6, 24, 168, 720, 8760}

// historyOf draws the history of a pool, beside another pool if one is given for comparison; "" is the root
// pool.
func historyOf(ctx context.Context, src Source, pool, with string, r *Request) (c poolHistory) {
	doc, hours, err := c.read(ctx, src, pool, r)
	for _, h := range historyHours {
		link := r.Without("since", "until").With("past", strconv.Itoa(h))
		c.Spans = append(c.Spans, sortLink{words.Span(time.Duration(h) * time.Hour), link, h == hours})
	}
	if err != nil {
		c.Problem = cmp.Or(c.Problem, err.Error()) // the rest of the page is shown all the same
		return c
	}
	if c.Problem != "" {
		c.Problem += "; showing the last " + words.Span(time.Duration(hours)*time.Hour)
	}
	c.navigate(r, doc.From, doc.To)
	var other *api.PoolHistory
	if with != "" {
		if other, err = src.Pools.History(ctx, with, doc.From, doc.To); err != nil {
			c.Problem = err.Error()
		}
	}
	c.Empty = len(doc.Points) == 0 && (other == nil || len(other.Points) == 0)
	switch x := curveOf(doc); {
	case c.Empty:
	case other != nil:
		other.From, other.To = doc.From, doc.To
		c.Figures = beside(x.All(), curveOf(other).All())
	case pool == "": // its share is always 100 %
		c.Figures = []plot.Figure{x.Entitled(), x.Demand(), x.Wait()}
	default:
		c.Figures = x.All()
	}
	return c
}

// read reads the history of the requested range, or of a number of hours back.
func (c *poolHistory) read(ctx context.Context, src Source, pool string, r *Request) (doc *api.PoolHistory, hours int,
	err error) {
	now := time.Now()
	if r.Word("since") != "" || r.Word("until") != "" {
		since, until, err := chosenRange(r.Word("since"), r.Word("until"), now)
		if err == nil {
			c.Chosen, c.Back = true, r.Without("since").With("until", "")+"#history"
			doc, err = readRange(ctx, src, pool, since, until, now)
			return doc, 0, err
		}
		c.Problem = err.Error()
	}
	hours, err = strconv.Atoi(r.Word("past"))
	chosen := err == nil && slices.Contains(historyHours, hours)
	if !chosen {
		hours = 24
	}
	doc, err = src.Pools.History(ctx, pool, now.Add(-time.Duration(hours)*time.Hour), time.Time{})
	if err == nil && !chosen { // do not ask for more than is known, so that the charts of a new server are not empty
		if fresh := youngest(doc); fresh < hours {
			hours = fresh
			doc, err = src.Pools.History(ctx, pool, now.Add(-time.Duration(hours)*time.Hour), time.Time{})
		}
	}
	if err == nil && len(doc.Points) > 0 {
		if first := doc.Points[0].At; !chosen && first.After(doc.From) {
			doc.From = units.Earlier(first, doc.To.Add(-leastShown))
		}
	}
	return doc, hours, err
}

// navigate sets the links from a range to others.
func (c *poolHistory) navigate(r *Request, since, until time.Time) {
	now := time.Now()
	c.Since, c.Until = since.Local().Format(fieldForm), until.Local().Format(fieldForm)
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		if v := r.Word(name); v != "" && name != "since" && name != "until" {
			c.Kept = append(c.Kept, field{name, v})
		}
	}
	length := until.Sub(since)
	add := func(name string, since, until time.Time) {
		if until.After(now) {
			since, until = since.Add(now.Sub(until)), now
		}
		c.Moves = append(c.Moves, sortLink{Name: name, Link: r.rangeLink(since, until)})
	}
	add("← earlier", since.Add(-length/2), until.Add(-length/2))
	if now.Sub(until) > length/20 {
		add("later →", since.Add(length/2), until.Add(length/2))
	}
	if length >= 2*leastRange {
		add("closer", since.Add(length/4), until.Add(-length/4))
	}
	if length < oldestRange/4 {
		add("wider", since.Add(-length/2), until.Add(length/2))
	}
}

// readRange reads the history of a range. If the range begins at the oldest possible instant, it is cut to
// begin with the first known point.
func readRange(ctx context.Context, src Source, pool string, since, until, now time.Time) (*api.PoolHistory, error) {
	doc, err := src.Pools.History(ctx, pool, since, until)
	if err == nil && now.Sub(since) >= oldestRange && len(doc.Points) > 0 {
		since = units.Earlier(doc.Points[0].At, until.Add(-leastShown))
		if doc, err = src.Pools.History(ctx, pool, since, until); err == nil && len(doc.Points) > 0 {
			since = units.Earlier(doc.Points[0].At, until.Add(-leastShown)) // its steps are finer now
		}
	}
	if err != nil {
		return nil, err
	}
	doc.From, doc.To = since, until
	return doc, nil
}

// curveOf returns the curve of a history.
func curveOf(doc *api.PoolHistory) curves.Curve {
	return curves.Curve{
		Name: cmp.Or(doc.Pool, "all pools"), Unit: doc.Unit, From: doc.From, To: doc.To, Step: words.Seconds(doc.StepSeconds),
		Points: doc.Points, Width: 600, Zone: time.Local,
	}
}

// beside puts the pictures of two pools in pairs, each pair to the same scale.
func beside(a, b plot.Stack) (out []plot.Figure) {
	for i := range a {
		pair := plot.Alike(a[i].(plot.Chart), b[i].(plot.Chart))
		out = append(out, pair[0], pair[1])
	}
	return out
}
