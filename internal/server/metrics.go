package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/sched"
)

// metrics holds the server's numbers for Prometheus. It reads those of the pools from the loop at each scrape.
type metrics struct {
	loop      *engine.Loop
	registry  *prometheus.Registry
	submitted prometheus.Counter
	requests  *prometheus.HistogramVec
	life      *lifeMetrics
}

func newMetrics(loop *engine.Loop) *metrics {
	m := &metrics{loop: loop, registry: prometheus.NewRegistry()}
	m.submitted = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "fairlead_jobs_submitted_total", Help: "Jobs accepted since the server started.",
	})
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "fairlead_http_request_seconds", Help: "Time to answer a request.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
	}, []string{"route", "status"})
	m.registry.MustRegister(m.submitted, m.requests, m,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.life = newLifeMetrics(m.registry)
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) request(route string, status int, took time.Duration) {
	if route == "" {
		route = "unknown"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// poolMetric is a metric of each pool.
type poolMetric struct {
	desc *prometheus.Desc
	of   func(*views.PoolView) float64
}

func gauge(name, help string, of func(*views.PoolView) float64) poolMetric {
	return poolMetric{prometheus.NewDesc("fairlead_"+name, help, []string{"pool"}, nil), of}
}

var poolMetrics = []poolMetric{
	gauge("share", "Fraction of the cluster to which the pool is entitled.", func(p *views.PoolView) float64 { return p.Share }),
	gauge("fair_now", "Units that the ideal fluid scheduler would give the pool now.", func(p *views.PoolView) float64 { return p.FairNow }),
	gauge("used_ratio", "Fraction of its parent's decayed use that the pool had.", func(p *views.PoolView) float64 { return p.UsedHere }),
	gauge("demand", "Units that running tasks hold or waiting tasks ask for.",
		func(p *views.PoolView) float64 { return p.Want }),
	gauge("running", "Units in use.", func(p *views.PoolView) float64 { return p.Running }),
	gauge("waiting_tasks", "Tasks that could start if there were room.", func(p *views.PoolView) float64 { return float64(p.Waiting) }),
	gauge("oldest_wait_seconds", "Wait of the oldest job with a waiting task, to a hundredth of a second.", func(p *views.PoolView) float64 { return p.OldestWait }),
	gauge("fairness_lag_slot_seconds", "Service that the ideal fluid scheduler would have given the pool since the server started, less the service that it received: above 0 the pool is behind.",
		func(p *views.PoolView) float64 { return p.Fairness.Lag }),
}

var (
	jainDesc = prometheus.NewDesc("fairlead_jain", "Jain's index of the pool's child pools in the last hour or day, over the service of each divided by its entitlement.", []string{"pool", "window"}, nil)
	lateDesc = prometheus.NewDesc("fairlead_lateness_seconds", "How much later tasks ended than they would have on a cluster of the pool's own, as large as its share.", []string{"pool"}, nil)
	lagDesc  = prometheus.NewDesc("fairlead_fairness_lag", "The pool's part of all entitled service in the last day, less its part of all received service: above 0 it is behind.", []string{"pool"}, nil)
	haveDesc = prometheus.NewDesc("fairlead_capacity", "Amount on all nodes that take tasks.", []string{"resource"}, nil)
	takeDesc = prometheus.NewDesc("fairlead_in_use", "Amount of the resource that is in use.", []string{"resource"}, nil)
	idleDesc = prometheus.NewDesc("fairlead_idle_while_demand_slot_seconds_total", "Slot-seconds that stayed idle although a task would have fitted.", nil, nil)
	leftDesc = prometheus.NewDesc("fairlead_pools_left_out", "Pools that have no metrics of their own, since there are too many.", nil, nil)
)

// loopMetric is a metric of the whole loop.
type loopMetric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(engine.Stats) float64
}

func counter(name, help string, of func(engine.Stats) float64) loopMetric {
	return loopMetric{prometheus.NewDesc("fairlead_"+name, help, nil, nil), prometheus.CounterValue, of}
}

var loopMetrics = []loopMetric{
	counter("steps_total", "Scheduling steps.", func(s engine.Stats) float64 { return float64(s.Steps) }),
	counter("tasks_started_total", "Tasks that were leased.", func(s engine.Stats) float64 { return float64(s.Started) }),
	counter("tasks_finished_total", "Attempts whose end was reported.", func(s engine.Stats) float64 { return float64(s.Finished) }),
	counter("tasks_lost_total", "Attempts whose agent disappeared.", func(s engine.Stats) float64 { return float64(s.Lost) }),
	counter("tasks_refused_total", "Attempts that did not begin, for a reason of their node; attempts that a queueing system behind a bridge refuses are included.", func(s engine.Stats) float64 { return float64(s.Refused) }),
	counter("drains_total", "Nodes that the server drained because they could not begin their tasks.", func(s engine.Stats) float64 { return float64(s.Drained) }),
	{prometheus.NewDesc("fairlead_step_seconds", "Time that the last step took.", nil, nil), prometheus.GaugeValue,
		func(s engine.Stats) float64 { return s.StepTime.Seconds() }},
}

var (
	stopsDesc = prometheus.NewDesc("fairlead_tasks_stopped_total", "Tasks that were stopped to make room for others, by the rule that stopped them.", []string{"rule"}, nil)
	priceDesc = prometheus.NewDesc("fairlead_stopped_lost_slot_seconds_total", "Slot-seconds that were lost with stopped tasks, by the rule that stopped them.", []string{"rule"}, nil)
)

// collectStops reports every rule that stops tasks, even if it has stopped none yet.
func collectStops(c chan<- prometheus.Metric, stops map[string]engine.StopCount) {
	for _, rule := range []sched.StopRule{sched.StopMin, sched.StopShare, sched.StopRebalance} {
		n := stops[string(rule)]
		c <- prometheus.MustNewConstMetric(stopsDesc, prometheus.CounterValue, float64(n.Tasks), string(rule))
		c <- prometheus.MustNewConstMetric(priceDesc, prometheus.CounterValue, n.Lost, string(rule))
	}
}

var rowDesc = prometheus.NewDesc("fairlead_node_refused_tasks", "Number of the node's latest tasks that it did not begin, one after another; absent if it began the latest.", []string{"node"}, nil)

var endsDesc = prometheus.NewDesc("fairlead_attempts_ended_total",
	"Attempts that ended, by result (succeeded, failed, cancelled), cause (exit, signal, refused, lost, other) "+
		"and node. The first thousand nodes have labels of their own; all further nodes share the label other.",
	[]string{"result", "cause", "node"}, nil)

var nodesDesc = prometheus.NewDesc("fairlead_nodes", "Nodes by state.", []string{"state"}, nil)

// Describe implements prometheus.Collector.
func (m *metrics) Describe(c chan<- *prometheus.Desc) {
	for _, p := range poolMetrics {
		c <- p.desc
	}
	for _, d := range []*prometheus.Desc{lagDesc, haveDesc, takeDesc, jainDesc, lateDesc, idleDesc, leftDesc, stopsDesc, priceDesc} {
		c <- d
	}
	for _, l := range loopMetrics {
		c <- l.desc
	}
	c <- nodesDesc
	c <- rowDesc
	c <- endsDesc
}
