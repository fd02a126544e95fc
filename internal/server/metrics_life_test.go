package server

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// TestWaitsAreMeasured: a wait is measured from when a task might have started to its first start, in a bounded number
// of time series.
func TestWaitsAreMeasured(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := newLifeMetrics(registry)
	now := time.Now()
	begin := func(pool, kind string, waited, held time.Duration, attempt int) {
		j := &queue.Job{Pool: pool, Kind: kind, Submitted: now.Add(-waited), Begin: now.Add(-waited + held)}
		m.Began(engine.Begun{Lease: &queue.Lease{Ref: queue.Ref{Attempt: attempt}, Job: j, Started: now}})
	}
	begin("physics", "mpi", time.Minute, 40*time.Second, 1) // it might have started 20 s ago
	begin("physics", "mpi", time.Hour, 0, 2)                // not the first start
	told := text(registry)
	for _, want := range []string{`bucket{kind="mpi",pool="physics",le="15"} 0`, `bucket{kind="mpi",pool="physics",le="60"} 1`, `sum{kind="mpi",pool="physics"} 20`, `count{kind="mpi",pool="physics"} 1`} {
		if !strings.Contains(told, "fairlead_wait_seconds_"+want+"\n") {
			t.Errorf("no %s in\n%s", want, told)
		}
	}
	for i := range 1000 {
		begin(fmt.Sprint("people/u", i), "", time.Second, 0, 1)
	}
	told = text(registry)
	if n := strings.Count(told, "fairlead_wait_seconds_count{"); n != waitsMeasured+1 {
		t.Errorf("%d time series of users who come by, want %d and one for all others", n, waitsMeasured)
	}
	if !strings.Contains(told, `fairlead_decisions_total{code="start"} 1002`) {
		t.Error("not 1002 starts were decided")
	}
}

// text returns the metrics as Prometheus would read them.
func text(r *prometheus.Registry) string {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}
