package web

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/words"
)

// sparkSource is what the small courses in tables need.
type sparkSource interface {
	// PoolHistories are how pools fared since an instant, in steps of a length, in the order of
	// their names.
	PoolHistories(ctx context.Context, pools []string, since time.Time, step time.Duration) ([]*api.PoolHistory, error)
}

// sparkSpan is how far back the small courses of a table go, and in which steps.
type sparkSpan struct{ back, step time.Duration }

// sparkSpans are those that there are: a day, and less where nothing older is known, so that a
// young server shows something.
var sparkSpans = []sparkSpan{
	{10 * time.Minute, 10 * time.Second}, {time.Hour, time.Minute}, {6 * time.Hour, 10 * time.Minute}, {24 * time.Hour, 30 * time.Minute},
}

// sparkSpanOf is the shortest that shows all that is known of a day.
func sparkSpanOf(all []*api.PoolHistory) sparkSpan {
	var age time.Duration
	for _, h := range all {
		if len(h.Points) > 0 {
			first := &h.Points[0] // known at its end
			end := earlier(h.To, first.At.Add(words.Seconds(h.StepSeconds)))
			age = max(age, h.To.Sub(end)+words.Seconds(first.Seconds))
		}
	}
	day := len(sparkSpans) - 1
	if i := slices.IndexFunc(sparkSpans, func(s sparkSpan) bool { return s.back >= age }); i >= 0 && age > 0 {
		return sparkSpans[i]
	}
	return sparkSpans[day]
}

// sparks draws the last day of each pool of the table: what it ran beside what was due, and what
// waited. Without a history, or a pool that has just gone, there are none.
func (t *poolTable) sparks(ctx context.Context, src Source, unit string) {
	var pools []string
	for _, row := range t.Rows {
		pools = append(pools, row.Path)
	}
	if len(pools) == 0 {
		return
	}
	read := func(s sparkSpan) ([]*api.PoolHistory, error) {
		return src.PoolHistories(ctx, pools, time.Now().Add(-s.back), s.step)
	}
	span := sparkSpans[len(sparkSpans)-1]
	all, err := read(span)
	if young := sparkSpanOf(all); err == nil && young != span {
		span = young
		all, err = read(span)
	}
	if err != nil {
		return
	}
	t.Course = lately(span.back.Seconds())
	for i := range t.Rows {
		t.Rows[i].Fared, t.Rows[i].Queued = sparksOf(all[i], unit, "the last "+t.Course)
	}
}

// sparksOf draws one pool; lately names the time that is drawn.
func sparksOf(h *api.PoolHistory, unit, lately string) (fared, queued plot.Spark) {
	fared = plot.Spark{From: seconds(h.From), To: seconds(h.To)}
	queued = fared
	var ran, due, waited, most, oldest float64
	var end time.Time
	gap := func(at time.Time) {
		p := plot.Point{X: seconds(at), Y: math.NaN()}
		fared.Area, fared.Line, queued.Area = append(fared.Area, p), append(fared.Line, p), append(queued.Area, p)
	}
	for i := range h.Points {
		p := &h.Points[i]
		if i > 0 && p.At.After(end) {
			gap(end)
		}
		x := seconds(p.At)
		fared.Area = append(fared.Area, plot.Point{X: x, Y: p.Running})
		fared.Line = append(fared.Line, plot.Point{X: x, Y: p.FairNow})
		queued.Area = append(queued.Area, plot.Point{X: x, Y: p.Waiting})
		ran, due, waited = ran+p.Running*p.Seconds, due+p.FairNow*p.Seconds, waited+p.Waiting*p.Seconds
		most, oldest = max(most, p.Waiting), max(oldest, p.OldestWait)
		end = p.At.Add(words.Seconds(h.StepSeconds))
	}
	if len(h.Points) == 0 {
		fared.Says = "nothing is known of " + h.Pool
		queued.Says = fared.Says
		return fared, queued
	}
	gap(earlier(h.To, end))
	known := known(h.Points)
	fared.Says = fmt.Sprintf("%s in %s: ran %s %s, and %s were due, on average", h.Pool, lately, words.OneDigit(ran/known), unit, words.OneDigit(due/known))
	queued.Says = fmt.Sprintf("%s in %s: %s tasks waited on average, at most %s; the longest for %s", h.Pool, lately, words.OneDigit(waited/known), words.OneDigit(most), words.Span(words.Seconds(oldest)))
	return fared, queued
}

// known is the time of which something is known, in seconds.
func known(points []fairlead.HistoryPoint) float64 {
	sum := 0.0
	for i := range points {
		sum += points[i].Seconds
	}
	return math.Max(sum, 1)
}
