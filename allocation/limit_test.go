package allocation

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// TestSettleLimit: a job without a time limit gets the limit of its pool, even if the placement rules chose the pool. A
// job keeps its own limit up to the maximum.
func TestSettleLimit(t *testing.T) {
	rules, err := share.NewPlacementRules([]share.Rule{{Match: map[string]string{"kind": "ci"}, Pool: "short/{user}"}})
	if err != nil {
		t.Fatal(err)
	}
	s := Default()
	s.PlacementRules = rules
	s.Sched.Root.Pools = []share.Pool{
		{Name: "short", Time: 10 * time.Minute, MaxTime: time.Hour, Pools: []share.Pool{{Name: "bob"}}},
		{Name: "long", Time: 2 * time.Hour},
	}
	for _, c := range []struct {
		job  queue.Job
		want time.Duration
		err  string
	}{
		{queue.Job{User: "ann"}, 0, ""},
		{queue.Job{User: "ann", Kind: "ci"}, 10 * time.Minute, ""},
		{queue.Job{User: "ann", Pool: "short"}, 10 * time.Minute, ""},
		{queue.Job{User: "ann", Pool: "short", Limit: time.Hour}, time.Hour, ""},
		{queue.Job{User: "ann", Pool: "short", Limit: 61 * time.Minute}, 0, "the job asks for 1h1m, and jobs in short/ann may have 1h at most (max_time of short); submit it with -t 1h or less"},
		{queue.Job{User: "ann", Kind: "ci", Limit: queue.NoLimit}, 0, "the job asks for no limit, and jobs in short/ann may have 1h at most"},
		{queue.Job{User: "ann", Pool: "long"}, 2 * time.Hour, ""},
		{queue.Job{User: "ann", Pool: "long", Limit: 48 * time.Hour}, 48 * time.Hour, ""},
		{queue.Job{User: "ann", Pool: "long", Limit: queue.NoLimit}, 0, ""},
	} {
		j := c.job
		if err := j.Check(); err != nil {
			t.Errorf("%+v: %v", c.job, err)
		}
		switch err := s.Settle(&j, Naming{}); {
		case c.err != "":
			if err == nil || !errors.Is(err, queue.ErrForbidden) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: got %v, want %q", c.job, err, c.err)
			}
		case err != nil || j.Limit != c.want:
			t.Errorf("%+v: got %v, %v; want %v", c.job, j.Limit, err, c.want)
		}
	}
	if err := (&queue.Job{Limit: -2 * time.Second}).Check(); err == nil {
		t.Error("a limit below 0 is taken")
	}
}
