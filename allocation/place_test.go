package allocation

import (
	"testing"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// TestLeastLoadedTakesTheRest: under the policy load a job that no rule matches goes to
// the class with the smallest load.
func TestLeastLoadedTakesTheRest(t *testing.T) {
	rules, err := share.NewPlacementRules([]share.Rule{{Match: map[string]string{"requestor": "land.*"}, Pool: "c1"}})
	if err != nil {
		t.Fatal(err)
	}
	classes := []share.Pool{{Name: "c3", Weight: 0}, {Name: "c1", Weight: 70}, {Name: "c2", Weight: 0}, {Name: "c0", Weight: 30}}
	for _, c := range []struct {
		policy      string
		rules       *share.PlacementRules
		job         queue.Job
		want        string
		closed, bad bool
	}{
		{"load", rules, queue.Job{User: "ann", Requestor: "landing"}, "c1", true, false},
		{"load", rules, queue.Job{User: "ann", Requestor: "land"}, "c1", true, false},
		{"load", rules, queue.Job{User: "ann", Requestor: "island"}, "c2", true, false},
		{"load", rules, queue.Job{User: "ann"}, "c2", true, false},
		{"load", nil, queue.Job{User: "ann"}, "c2", true, false},
		{"load", nil, queue.Job{User: "ann"}, "c2", false, false},
		{"load", nil, queue.Job{User: "c0"}, "c0", true, false},
		{"load", rules, queue.Job{User: "ann", Pool: "c3"}, "c3", true, false},
		{"fair", rules, queue.Job{User: "ann"}, "default", true, false},
		{"fair", nil, queue.Job{User: "ann"}, "", true, true},
	} {
		s := Default()
		s.Sched.Root = share.Pool{Policy: c.policy, Pools: classes}
		s.PlacementRules, s.Closed = c.rules, c.closed
		j := c.job
		if err := s.Settle(&j, Naming{}); (err != nil) != c.bad || !c.bad && j.Pool != c.want {
			t.Errorf("%s, requestor %q of %s goes to %q, %v; want %q", c.policy, c.job.Requestor, c.job.User, j.Pool, err, c.want)
		}
	}
}
