package web

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/units"
)

// TestSparklineSpan checks that the sparklines cover the known history, but at most a day.
func TestSparklineSpan(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 10, 0, 0, time.UTC)
	since := func(ages ...time.Duration) (all []*api.PoolHistory) {
		for _, age := range ages {
			h := &api.PoolHistory{To: now, StepSeconds: 1800}
			if age > 0 {
				begun := now.Add(-age)
				first := begun.Truncate(30 * time.Minute)
				h.Points = []history.HistoryPoint{{At: first,
					Seconds: units.Earlier(now, first.Add(30*time.Minute)).Sub(begun).Seconds()},
					{At: now}}
			}
			all = append(all, h)
		}
		return all
	}
	for _, c := range []struct {
		ages []time.Duration
		want time.Duration
	}{
		{nil, 24 * time.Hour},
		{[]time.Duration{0, 0}, 24 * time.Hour},
		{[]time.Duration{time.Minute}, 10 * time.Minute},
		{[]time.Duration{10 * time.Minute, 0}, 10 * time.Minute},
		{[]time.Duration{time.Minute, 11 * time.Minute}, time.Hour},
		{[]time.Duration{3 * time.Hour}, 6 * time.Hour},
		{[]time.Duration{30 * time.Hour, time.Minute}, 24 * time.Hour},
	} {
		if got := sparklineSpanOf(since(c.ages...)); got.back != c.want {
			t.Errorf("known since %v: %v are drawn, want %v", c.ages, got.back, c.want)
		}
	}
}
