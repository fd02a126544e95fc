package usage_test

import (
	"testing"

	"github.com/fairlead/fairlead/usage"
)

// TestServiceNeverFalls: the last charged task ends while another task is not charged, because it waits in another
// queueing system. No rounding error remains as a rate, which could be negative.
func TestServiceNeverFalls(t *testing.T) {
	for _, rates := range [][]float64{{0.1, 0.2, 0.3}, {0.7, 0.1, 0.3}, {0.3, 0.6, 0.1}, {1.1, 2.2, 3.3}} {
		var a usage.Account
		begin := usage.Now{Tau: 100, Growth: 1}
		for _, r := range rates {
			a.Start(1, r, begin)
		}
		a.Accrue(-rates[0], begin) // the task moves to another queueing system
		for _, r := range rates[1:] {
			a.Finish(1, r, begin, usage.Now{Tau: 200, Growth: 1})
		}
		if a.Rate != 0 || a.Running != 1 {
			t.Errorf("%v: rate %v, width %v, want 0 and 1", rates, a.Rate, a.Running)
		}
		if now, later := a.Service(usage.Now{Tau: 200, Growth: 1}), a.Service(usage.Now{Tau: 1e12, Growth: 1}); now != later {
			t.Errorf("%v: the service went from %v to %v without a charged task", rates, now, later)
		}
	}
}
