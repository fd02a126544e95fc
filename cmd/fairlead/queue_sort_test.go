package main

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// TestQueueOrders: the largest number goes first, and among equal ones the older job.
func TestQueueOrders(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	jobs := []api.Job{
		{ID: 1, Spec: api.Spec{Request: queue.Amounts{"cpu": 4, "mem": 1 << 30}}, Submitted: at.Add(time.Hour)},
		{ID: 2, Spec: api.Spec{Request: queue.Amounts{"cpu": 2}, Gang: 8, LimitSeconds: 60}, Submitted: at},
		{ID: 3, Spec: api.Spec{Request: queue.Amounts{"cpu": 4}, LimitSeconds: 3600}, Submitted: at.Add(2 * time.Hour)},
	}
	for name, want := range map[string][]int64{
		"width": {2, 1, 3}, "memory": {1, 2, 3}, "limit": {3, 2, 1}, "age": {2, 1, 3},
	} {
		all := slices.Clone(jobs)
		(&jobOrder{queueOrders("cpu")[name]}).sort(all)
		var got []int64
		for i := range all {
			got = append(got, all[i].ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %s: %v, want %v", name, got, want)
		}
	}
}
