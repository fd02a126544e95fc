package sim_test

import (
	"reflect"
	"testing"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestMeasuredIsRun checks that Measured gives the same numbers for a schedule as Run, which made it.
func TestMeasuredIsRun(t *testing.T) {
	w := &sim.Workload{Name: "made", Procs: 4, Users: []string{"ann", "bob"}, Pools: []string{"ann", "bob"}}
	for i := range int64(200) {
		w.Jobs = append(w.Jobs, sim.Job{ID: i + 1, Submit: i * 7, Run: i * 37 % 50, Estimate: 60, Procs: int32(1 + i%3),
			User: int32(i % 2), Pool: int32(i % 2)})
	}
	cfg := sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{})}
	want, err := sim.Run(w, sim.Options{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	got, err := sim.Measured(w, cfg, want.Schedule.Start)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Metrics, want.Metrics) {
		t.Errorf("measured %+v\nrun      %+v", got.Metrics, want.Metrics)
	}
	if !reflect.DeepEqual(got.Series, want.Series) {
		t.Error("the series differ")
	}
}
