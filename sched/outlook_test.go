package sched_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestOutlook: a copy that plans room on nodes previews the same starts as a copy that the scheduler makes without
// plans.
func TestOutlook(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, backfill := range []sched.Backfill{sched.FirstFit, sched.EASY, sched.Conservative} {
		s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}), Backfill: backfill}, now, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Join("n1", cluster.Amounts{"cpu": 4}, now)
		for id := range int64(12) {
			s.Add(sched.Job{
				ID: id + 1, Pool: s.Pool([]string{"ann", "bob", "cid"}[id%3]), Priority: 2, Tasks: 1,
				Key: s.Key(cluster.Amounts{"cpu": 1 + id%4}), Limit: time.Hour,
			}, now)
		}
		var d sched.Decision
		s.Step(now, 0, &d)
		var want, got []int64
		s.Preview(func(st sched.Start, _ float64) bool { want = append(want, st.Job); return true })
		s.Fork().AsOutlook().Preview(func(st sched.Start, _ float64) bool { got = append(got, st.Job); return true })
		if len(want)+len(d.Starts) != 12 || !slices.Equal(got, want) {
			t.Errorf("%v: after %d starts the copy previews %v, the scheduler %v", backfill, len(d.Starts), got, want)
		}
	}
}
