package bridge

import (
	"testing"

	"github.com/fairlead/fairlead/cluster"
)

// TestAmountsWithoutLimitAreNotCounted checks that the cluster recognizes the amounts that a bridge offers of
// resources that it does not count.
func TestAmountsWithoutLimitAreNotCounted(t *testing.T) {
	o := Options{Groups: &Groups{}, Resources: map[string]int64{"gpu": 4}}
	o.fill()
	c := cluster.New("slots")
	id := c.JoinLabelled("b", o.capacity(c.Unit()), cluster.Labels{"bridge": "slurm"})
	for resource, want := range map[string]bool{"slots": true, "cpu": true, "mem": true, "gpu": false} {
		if got := c.Nodes()[id].Uncounted[c.Number(resource)]; got != want {
			t.Errorf("%s is uncounted: %v, want %v", resource, got, want)
		}
	}
}
