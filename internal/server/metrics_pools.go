package server

import (
	"cmp"
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead/fairlead/internal/ends"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
)

// poolsMeasured limits how many pools have metrics: a monitoring system cannot handle a time series for each user who
// ever submitted a job.
const poolsMeasured = 500

// measuredPool is a pool with metrics.
type measuredPool struct {
	*views.PoolView
	inner bool
}

// measured chooses the pools with metrics if there are more than "most": the root, then the configured pools, then the
// other pools with the largest demand.
func measured(pools []views.PoolView, most int) []measuredPool {
	all := make([]measuredPool, len(pools))
	for i := range pools {
		all[i] = measuredPool{&pools[i], i+1 < len(pools) && pools[i+1].Depth > pools[i].Depth}
	}
	if len(all) <= most {
		return all
	}
	rank := func(p measuredPool) int {
		switch {
		case p.Depth == 0:
			return 0
		case p.Configured:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b measuredPool) int {
		if rank(a) == 2 && rank(b) == 2 {
			return cmp.Compare(b.Want, a.Want)
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return all[:most]
}

func collectPool(c chan<- prometheus.Metric, p measuredPool, all views.FairnessSpan) {
	name := cmp.Or(p.Path, "/")
	for _, g := range poolMetrics {
		c <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.of(p.PoolView), name)
	}
	f := &p.Fairness
	if p.Depth > 0 {
		lag := 0.0
		if all.Ideal > 0 && all.Received > 0 {
			lag = f.Day.Ideal/all.Ideal - f.Day.Received/all.Received
		}
		c <- prometheus.MustNewConstMetric(lagDesc, prometheus.GaugeValue, lag, name)
	}
	if p.inner {
		c <- prometheus.MustNewConstMetric(jainDesc, prometheus.GaugeValue, f.Hour.Jain, name, "hour")
		c <- prometheus.MustNewConstMetric(jainDesc, prometheus.GaugeValue, f.Day.Jain, name, "day")
	}
	if p.Depth > 0 {
		c <- prometheus.MustNewConstSummary(lateDesc, uint64(f.LateTasks), f.LateSeconds, nil, name)
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(c chan<- prometheus.Metric) {
	fair, pools := views.Fairness(context.Background(), m.loop)
	counted := measured(pools, poolsMeasured)
	for _, p := range counted {
		collectPool(c, p, pools[0].Fairness.Day)
	}
	capacity, free, _ := m.loop.Capacity()
	for r, n := range capacity {
		c <- prometheus.MustNewConstMetric(haveDesc, prometheus.GaugeValue, float64(n), r)
		c <- prometheus.MustNewConstMetric(takeDesc, prometheus.GaugeValue, float64(n-free[r]), r)
	}
	c <- prometheus.MustNewConstMetric(leftDesc, prometheus.GaugeValue, float64(len(pools)-len(counted)))
	c <- prometheus.MustNewConstMetric(idleDesc, prometheus.CounterValue, fair.Idle)
	stats := m.loop.Stats()
	for _, l := range loopMetrics {
		c <- prometheus.MustNewConstMetric(l.desc, l.kind, l.of(stats))
	}
	collectStops(c, stats.Stops)
	states := map[string]int{"up": 0, "drain": 0, "down": 0, "maintenance": 0}
	sums := engine.Read(m.loop, func(s *engine.State) map[ends.Key]int64 { return s.Ends.Totals() })
	for _, n := range views.Nodes(m.loop) {
		sums[ends.Key{Node: n.Name, Cause: ends.Exit}] += 0 // what alerts use exists before anything has happened
		states[n.State]++
		if n.Fault != nil {
			c <- prometheus.MustNewConstMetric(rowDesc, prometheus.GaugeValue, float64(n.Fault.Tasks), n.Name)
		}
	}
	for state, n := range states {
		c <- prometheus.MustNewConstMetric(nodesDesc, prometheus.GaugeValue, float64(n), state)
	}
	for k, n := range sums {
		c <- prometheus.MustNewConstMetric(endsDesc, prometheus.CounterValue, float64(n),
			k.Cause.Result(), string(k.Cause), k.Node)
	}
}
