package web

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
)

// sparklineSpan is the time that the sparklines of a table cover, and their step.
type sparklineSpan struct{ back, step time.Duration }

// sparklineSpans lists the possible spans: a day, or less if no older history is known, so that the
// sparklines of a new server are not empty.
var sparklineSpans = []sparklineSpan{
	{10 * time.Minute, 10 * time.Second}, {time.Hour, time.Minute}, {6 * time.Hour, 10 * time.Minute}, {24 * time.Hour,
		30 * time.Minute},
}

// sparklineSpanOf returns the shortest span that covers all known history, a day at most.
func sparklineSpanOf(all []*api.PoolHistory) sparklineSpan {
	var age time.Duration
	for _, h := range all {
		if len(h.Points) > 0 {
			first := &h.Points[0] // known at its end
			end := units.Earlier(h.To, first.At.Add(words.Seconds(h.StepSeconds)))
			age = max(age, h.To.Sub(end)+words.Seconds(first.Seconds))
		}
	}
	day := len(sparklineSpans) - 1
	if i := slices.IndexFunc(sparklineSpans, func(s sparklineSpan) bool { return s.back >= age }); i >= 0 && age > 0 {
		return sparklineSpans[i]
	}
	return sparklineSpans[day]
}

// drawSparklines draws the last day of each pool of the table: its running tasks beside its entitlement, and
// its waiting tasks. It draws none if there is no history, or if a pool has just gone.
func (t *poolTable) drawSparklines(ctx context.Context, src Source, unit string) {
	var pools []string
	for _, row := range t.Rows {
		pools = append(pools, row.Path)
	}
	if len(pools) == 0 {
		return
	}
	read := func(s sparklineSpan) ([]*api.PoolHistory, error) {
		return src.Pools.Histories(ctx, pools, time.Now().Add(-s.back), s.step)
	}
	span := sparklineSpans[len(sparklineSpans)-1]
	all, err := read(span)
	if fresh := sparklineSpanOf(all); err == nil && fresh != span {
		span = fresh
		all, err = read(span)
	}
	if err != nil {
		return
	}
	t.TrendSpan = timeCovered(span.back.Seconds())
	for i := range t.Rows {
		t.Rows[i].Fared, t.Rows[i].Queued = sparklinesOf(all[i], unit, "the last "+t.TrendSpan)
	}
}

// sparklinesOf draws one pool. The argument "covered" names the time span.
func sparklinesOf(h *api.PoolHistory, unit, covered string) (fared, queued plot.Sparkline) {
	fared = plot.Sparkline{From: seconds(h.From), To: seconds(h.To)}
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
		fared.Says = "no history of " + h.Pool
		queued.Says = fared.Says
		return fared, queued
	}
	gap(units.Earlier(h.To, end))
	known := known(h.Points)
	fared.Says = fmt.Sprintf("%s in %s: ran %s %s, was entitled to %s, on average", h.Pool, covered,
		words.OneDigit(ran/known), unit, words.OneDigit(due/known))
	queued.Says = fmt.Sprintf("%s in %s: %s tasks waited on average, at most %s; the longest for %s", h.Pool, covered,
		words.OneDigit(waited/known), words.OneDigit(most), words.Span(words.Seconds(oldest)))
	return fared, queued
}

// known returns the time with known values, in seconds.
func known(points []history.HistoryPoint) float64 {
	sum := 0.0
	for i := range points {
		sum += points[i].Seconds
	}
	return math.Max(sum, 1)
}
