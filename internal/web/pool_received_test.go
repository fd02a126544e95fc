package web

import (
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
)

// TestReceived: the page of a pool also shows how much the pool received above its entitlement.
func TestReceived(t *testing.T) {
	for _, c := range []struct {
		ideal, received float64
		want            string
	}{
		{3600, 10512, "292.0% of its entitlement"}, {3600, 1800, "50.0% of its entitlement"},
		{0, 7200, "2 cpu-h, entitled to nothing"},
		{0, 0, "0 cpu-h, entitled to nothing"}, {1, 7200, "more than 10 times its entitlement"},
	} {
		p := &Pool{Shares: &api.Shares{}, Pool: &views.PoolView{}}
		p.Unit = "cpu"
		p.Pool.Fairness.Day = views.FairnessSpan{Ideal: c.ideal, Received: c.received}
		if got := p.Received(); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.received, c.ideal, got, c.want)
		}
	}
}
