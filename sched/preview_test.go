package sched_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestPreviewLeavesOutHopelessJobs: a job that no node could run has no place in the order, and its pool does not go
// first because of it.
func TestPreviewLeavesOutHopelessJobs(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1},
		{Name: "b", Weight: 1, Min: map[string]int64{"mem": 1}}}}, 4, 1)
	for id, j := range []struct {
		pool    string
		request cluster.Amounts
	}{{"b", cluster.Amounts{"cpu": 1, "mem": 1}}, {"a", cluster.Amounts{"cpu": 1}}, {"b", cluster.Amounts{"cpu": 1}}} {
		w.Add(sched.Job{ID: int64(id + 1), Pool: w.Pool(j.pool), Priority: 2, Key: w.Key(j.request), Tasks: 1}, w.now)
	}
	order := func() (ids []int64) {
		w.Preview(func(st sched.Start, _ float64) bool {
			ids = append(ids, st.Job)
			return true
		})
		return ids
	}
	if got := order(); !slices.Equal(got, []int64{2, 3}) {
		t.Errorf("no node has memory: the order is %v, want 2, 3", got)
	}
	w.Join("m", cluster.Amounts{"cpu": 1, "mem": 1}, w.now.Add(time.Second))
	if got := order(); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("a node has memory: the order is %v, want 1, 2, 3", got)
	}
}
