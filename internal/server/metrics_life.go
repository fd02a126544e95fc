package server

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// lifeMetrics holds the metrics of events, measured when they happen.
type lifeMetrics struct {
	waits     *prometheus.HistogramVec
	cycles    prometheus.Histogram
	store     *prometheus.HistogramVec
	decisions *prometheus.CounterVec
	labels    labeled
}

var _ engine.Observer = (*lifeMetrics)(nil)

func newLifeMetrics(r *prometheus.Registry) *lifeMetrics {
	m := &lifeMetrics{
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fairlead_wait_seconds", Help: "Time from the moment when a task could have started to its first start.",
			Buckets: []float64{0.1, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 3 * 86400},
		}, []string{"pool", "kind"}),
		cycles: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "fairlead_cycle_seconds", Help: "Time that a scheduling step took to decide.", Buckets: prometheus.ExponentialBuckets(1e-5, 4, 10),
		}),
		store: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fairlead_store_seconds", Help: "Time that the store took: to store submitted jobs, to lease tasks, to store their ends.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"call"}),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairlead_decisions_total", Help: "Decisions by code: start for each started task, else the reason for which the jobs of a pool began to wait.",
		}, []string{"code"}),
		labels: labeled{max: waitsMeasured, seen: map[[2]string]bool{}},
	}
	// Metrics that alerts use must exist before anything has happened.
	for _, call := range []string{"submit", "lease", "finish"} {
		m.store.WithLabelValues(call)
	}
	m.decisions.WithLabelValues("start")
	r.MustRegister(m.waits, m.cycles, m.store, m.decisions)
	return m
}

// Stepped implements engine.Observer.
func (m *lifeMetrics) Stepped(took time.Duration) { m.cycles.Observe(took.Seconds()) }

// Stored implements engine.Observer.
func (m *lifeMetrics) Stored(call string, took time.Duration) {
	m.store.WithLabelValues(call).Observe(took.Seconds())
}

// Began implements engine.Observer. A task that was leased before is not measured again.
func (m *lifeMetrics) Began(b engine.Begun) {
	m.decisions.WithLabelValues("start").Inc()
	j := b.Lease.Job
	since := j.Submitted
	if j.Begin.After(since) {
		since = j.Begin
	}
	if b.Lease.Attempt <= 1 && !b.Queued {
		m.waited(j.Pool, j.Kind, b.Lease.Started.Sub(since))
	}
}

// BeganThere implements engine.Observer.
func (m *lifeMetrics) BeganThere(r queue.Run, h queue.Header, since time.Time) {
	if r.Attempt <= 1 {
		m.waited(h.Pool, h.Kind, r.Started.Sub(since))
	}
}

func (m *lifeMetrics) waited(pool, kind string, d time.Duration) {
	pool, kind = m.labels.bounded(pool, kind)
	m.waits.WithLabelValues(pool, kind).Observe(max(0, d).Seconds())
}

// Ended implements engine.Observer.
func (m *lifeMetrics) Ended(queue.Result) {}

// Lost implements engine.Observer.
func (m *lifeMetrics) Lost(queue.Ref) {}

// WaitsFor implements engine.Observer.
func (m *lifeMetrics) WaitsFor(code why.Code) { m.decisions.WithLabelValues(string(code)).Inc() }

// waitsMeasured limits for how many pairs of pool and kind waits are measured: each pair has one time series per
// bucket.
const waitsMeasured = 300

// labeled bounds the pairs of labels that users choose: later pairs are all called other.
type labeled struct {
	max int

	mu   sync.Mutex
	seen map[[2]string]bool
}

func (l *labeled) bounded(a, b string) (string, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pair := [2]string{a, b}
	if !l.seen[pair] && len(l.seen) >= l.max {
		return "other", "other"
	}
	l.seen[pair] = true
	return a, b
}
