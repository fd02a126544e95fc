package web

import (
	"context"
	"fmt"
	"math"
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

// sparkSpan is how far back the small courses go, in steps of sparkStep.
const (
	sparkSpan = 24 * time.Hour
	sparkStep = 30 * time.Minute
)

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
	all, err := src.PoolHistories(ctx, pools, time.Now().Add(-sparkSpan), sparkStep)
	if err != nil {
		return
	}
	t.Course = true
	for i := range t.Rows {
		t.Rows[i].Fared, t.Rows[i].Queued = sparksOf(all[i], unit)
	}
}

// sparksOf draws one pool.
func sparksOf(h *api.PoolHistory, unit string) (fared, queued plot.Spark) {
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
	fared.Says = fmt.Sprintf("%s in the last day: ran %s %s, and %s were due, on average", h.Pool, words.OneDigit(ran/known), unit, words.OneDigit(due/known))
	queued.Says = fmt.Sprintf("%s in the last day: %s tasks waited on average, at most %s; the longest for %s", h.Pool, words.OneDigit(waited/known), words.OneDigit(most), words.Span(words.Seconds(oldest)))
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
