package sim_test

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestUserRunningIsSimulated: jobs above the limit of their user wait, though there is room.
func TestUserRunningIsSimulated(t *testing.T) {
	names := []string{"ann", "bob"}
	w := &sim.Workload{Name: "limited", Procs: 8, Users: names, Pools: names}
	for range 4 {
		w.Jobs = append(w.Jobs, sim.Job{Run: 100, Estimate: 100, Procs: 1})
	}
	w.Jobs = append(w.Jobs, sim.Job{Run: 100, Estimate: 100, Procs: 2, User: 1, Pool: 1})
	for most, want := range map[int][]int64{0: {0, 0, 0, 0, 0}, 2: {0, 0, 100, 100, 0}} {
		cfg := sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}), UserRunning: most}
		r, err := sim.Run(w, sim.Options{Config: cfg})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Schedule.Start; !slices.Equal(got, want) {
			t.Errorf("with a limit of %d the jobs start at %v, want %v", most, got, want)
		}
	}
}
