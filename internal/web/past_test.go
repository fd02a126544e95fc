package web_test

import (
	"math"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// pastDay writes a day of history of the example's pools into a store, as if a server had run: a night with
// little demand, and a flood of physics in the afternoon.
func pastDay(t testing.TB, store queue.HistoryKeeper) {
	t.Helper()
	const capacity = 64.0
	now := time.Now()
	shares := map[string][2]float64{ // share of the parent pool, and fraction of its demand
		"physics": {0.6, 0}, "biology": {0.4, 0},
		"physics/markov": {0.5, 0.7}, "physics/curie": {0.5, 0.3}, "biology/env": {0.5, 0.25}, "biology/epi": {0.5, 0.75},
	}
	wants := map[string]func(h float64) float64{
		"physics": func(h float64) float64 { return 22 + 70*math.Exp(-(h-8)*(h-8)/9) + 5*math.Sin(4*h) },
		"biology": func(h float64) float64 { return 38 + 24*math.Sin(h/3.5) + 4*math.Sin(5*h) },
	}
	var all []queue.PoolHistory
	for level, l := range queue.HistoryLevels {
		by := map[string][]queue.HistoryStep{}
		add := func(pool string, at time.Time, share, used, due, runs, wants float64) {
			s := l.Step.Seconds()
			waits := math.Max(0, wants-runs)
			by[pool] = append(by[pool], queue.HistoryStep{
				At: at, Seconds: s, Share: share * s, Used: used * s, FairNow: due * s, Running: runs * s, Demand: wants * s,
				Waiting: math.Round(waits/6) * s, OldestWait: waits * 90,
			})
		}
		for at := now.Add(-23 * time.Hour).UTC().Truncate(l.Step); at.Before(now.Add(-l.Step)); at = at.Add(l.Step) {
			h := 23 - now.Sub(at).Hours()
			p, b := math.Max(0, wants["physics"](h)), math.Max(0, wants["biology"](h))
			duePhysics := math.Min(p, math.Max(0.6*capacity, capacity-b))
			dueBiology := math.Min(b, math.Max(0.4*capacity, capacity-p))
			// A pool gets machines when tasks end, so its running tasks follow its entitlement.
			late := 0.25 * math.Sin(h*1.7)
			runsP := math.Min(p, math.Max(0, duePhysics*(1+late)))
			runsB := math.Min(b, capacity-runsP)
			add("", at, 1, 1, math.Min(capacity, p+b), runsP+runsB, p+b)
			add("physics", at, 0.6, 0.6+0.12*math.Sin(h/5), duePhysics, runsP, p)
			add("biology", at, 0.4, 0.4-0.12*math.Sin(h/5), dueBiology, runsB, b)
			for pool, s := range shares {
				if s[1] == 0 {
					continue
				}
				above, due, runs := p, duePhysics, runsP
				if pool[0] == 'b' {
					above, due, runs = b, dueBiology, runsB
				}
				add(pool, at, s[0], s[1]+0.1*math.Sin(h/4), math.Min(due*s[0]*1.2, above*s[1]), runs*s[1], above*s[1])
			}
		}
		for pool, steps := range by {
			all = append(all, queue.PoolHistory{Pool: pool, Level: level, Steps: steps})
		}
	}
	if err := store.AddHistory(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}
