package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/share"
)

// limited returns a workload of five jobs: two without a limit and three with limits of 10 s, 51 s and 50 s.
// The pool a/short has a maximum of 50 s.
func limited() (*sim.Workload, *share.Pool) {
	w := &sim.Workload{Procs: 1, Pools: []string{"a", "a/short"}, Jobs: []sim.Job{
		{ID: 1, Run: 200, Estimate: 200, NoLimit: true},
		{ID: 2, Run: 40, Estimate: 40, NoLimit: true, Pool: 1},
		{ID: 3, Run: 5, Estimate: 10},
		{ID: 4, Run: 5, Estimate: 51, Pool: 1},
		{ID: 5, Run: 5, Estimate: 50, Pool: 1},
	}}
	root := &share.Pool{Pools: []share.Pool{{Name: "a", Time: 100 * time.Second,
		Pools: []share.Pool{{Name: "short", MaxTime: 50 * time.Second}}}}}
	return w, root
}

func planned(w *sim.Workload) string {
	var all []string
	for _, j := range w.Jobs {
		all = append(all, fmt.Sprintf("%d %d/%d", j.ID, j.Run, j.Estimate))
	}
	return strings.Join(all, ", ")
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*sim.Workload, *share.Pool)
		want string
		did  sim.Limited
	}{
		{"as submitted", func(w *sim.Workload, p *share.Pool) { w.Limit(p, false) }, "1 100/100, 2 40/50, 3 5/10, 5 5/50",
			sim.Limited{Refused: 1, Given: 2, Ended: 1}},
		{"extended", func(w *sim.Workload, p *share.Pool) { w.Limit(p, true) }, "1 200/200, 2 40/50, 3 5/10, 5 5/50",
			sim.Limited{Refused: 1, Given: 2}},
		{"as planned", (*sim.Workload).Plan, "1 200/200, 2 40/50, 3 5/10, 4 5/51, 5 5/50", sim.Limited{Given: 2}},
	} {
		w, root := limited()
		c.do(w, root)
		if got := planned(w); got != c.want || w.Limits != c.did {
			t.Errorf("%s: %s, %+v; want %s, %+v", c.name, got, w.Limits, c.want, c.did)
		}
	}
	w, _ := limited()
	w.Limit(&share.Pool{}, false)
	if got := planned(w); got != "1 200/200, 2 40/40, 3 5/10, 4 5/51, 5 5/50" || w.Limits != (sim.Limited{}) {
		t.Errorf("without limits: %s, %+v", got, w.Limits)
	}
}
