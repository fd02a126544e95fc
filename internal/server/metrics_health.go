package server

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// healthMetric reports the results of the quick checks.
type healthMetric struct{ service *healthService }

var healthDesc = prometheus.NewDesc("fairlead_health",
	"Result of each quick check of doctor: 0 good, 1 a warning, 2 a failure. Some checks are absent while they are good.",
	[]string{"check"}, nil)

// Describe implements prometheus.Collector.
func (h healthMetric) Describe(c chan<- *prometheus.Desc) { c <- healthDesc }

// Collect implements prometheus.Collector.
func (h healthMetric) Collect(c chan<- prometheus.Metric) {
	h.service.found.latest(context.Background(), healthFresh, healthTime)
	quick := h.service.quick.Load()
	if quick == nil {
		return
	}
	for _, check := range *quick {
		c <- prometheus.MustNewConstMetric(healthDesc, prometheus.GaugeValue, float64(badness(check)), check.Name)
	}
}
