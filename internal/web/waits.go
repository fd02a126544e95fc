package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/plot"
)

// waits holds the waits of recently started tasks.
type waits struct {
	account.Waits
	Pending bool  // no data yet
	Problem error // the reason if there are none
	Figure  plot.Figure
	Kinds   []account.Row // if there are several: the kinds with the most starts
}

// When names the window.
func (w *waits) When() string {
	return "in the last " + timeCovered(w.Until.Sub(w.Since).Seconds())
}

// The bounds of the report.
const (
	waitsWindow = 24 * time.Hour
	maxWaits    = 5000 // tasks; thousands are enough for the distribution
	kindsShown  = 6
)

// waitNames and waitSteps define the bars: waits up to a length.
var (
	waitNames = []string{"up to 1s", "10s", "1m", "10m", "1h", "6h", "1d", "longer"}
	waitSteps = []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour,
		24 * time.Hour, 1<<63 - 1}
)

// waitsOf returns the waits of a pool or a user.
func waitsOf(ctx context.Context, src Source, pool, user string) (w waits) {
	now := time.Now()
	got, err := src.Pools.Waits(ctx, account.Ask{Since: now.Add(-waitsWindow), Until: now, Pool: pool, User: user},
		waitSteps, maxWaits)
	if got == nil || err != nil {
		return waits{Pending: true, Problem: err}
	}
	w.Waits = *got
	if w.Started == 0 {
		return w
	}
	if len(got.Kinds) > 1 {
		w.Kinds = slices.SortedFunc(slices.Values(got.Kinds), func(a, b account.Row) int {
			return cmp.Or(cmp.Compare(b.Started, a.Started), cmp.Compare(a.Kind, b.Kind))
		})
		w.Kinds = w.Kinds[:min(len(w.Kinds), kindsShown)]
	}
	var groups []plot.Group
	seen := int64(0)
	for i, n := range w.Steps {
		groups = append(groups, plot.Group{Name: waitNames[i], Values: []float64{float64(n)}})
		if seen += n; seen == w.Started {
			break
		}
	}
	w.Figure = plot.Bars{Width: 620, Series: []string{"tasks"}, Groups: groups,
		Note: "Number of tasks by wait before their first start."}
	return w
}
