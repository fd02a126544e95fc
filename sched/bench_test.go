package sched_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// BenchmarkDecision measures one full cycle of a task: it ends, another is submitted
// to some pool, and the step picks and starts one, with its record.
func BenchmarkDecision(b *testing.B) {
	for _, name := range policy.Names() {
		for _, pools := range []int{10, 1000, 100_000} {
			for _, waiting := range []int{10_000, 1_000_000, 10_000_000} {
				if waiting < pools {
					waiting = pools
				}
				b.Run(fmt.Sprintf("policy=%s/pools=%d/waiting=%d", name, pools, waiting), func(b *testing.B) {
					benchDecision(b, name, pools, waiting)
				})
			}
		}
	}
}

func benchDecision(b *testing.B, name string, pools, waiting int) {
	start := time.Unix(1_700_000_000, 0)
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: name}, NewPolicy: policy.New(policy.Options{}), HalfLife: 7 * 24 * time.Hour}, start, 1)
	if err != nil {
		b.Fatal(err)
	}
	const slots = 1000
	s.Join("n", cluster.Amounts{"cpu": slots}, start)
	key := s.Key(nil)
	ids := make([]sched.PoolID, pools)
	for i := range ids {
		ids[i] = s.Pool(fmt.Sprintf("u%d", i))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	id := int64(0)
	for id < int64(waiting) {
		id++
		s.Add(sched.Job{ID: id, Pool: ids[int(id)%pools], Key: key, Priority: 2, Tasks: 1}, start)
	}
	var d sched.Decision
	var running []sched.RunID
	s.Step(start, 0, &d)
	for d.More {
		for _, st := range d.Starts {
			running = append(running, st.Run)
		}
		s.Step(start, 0, &d)
	}
	for _, st := range d.Starts {
		running = append(running, st.Run)
	}
	now := start
	b.ResetTimer()
	b.ReportAllocs()
	for range b.N {
		now = now.Add(10 * time.Millisecond)
		k := rng.IntN(len(running))
		s.Finish(running[k], now, true)
		id++
		s.Add(sched.Job{ID: id, Pool: ids[rng.IntN(pools)], Key: key, Priority: 2, Tasks: 1}, now)
		s.Step(now, 0, &d)
		running[k] = d.Starts[0].Run
	}
	b.ReportMetric(1e9/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "decisions/s")
}

// BenchmarkFork measures the copy that a what-if question works on.
func BenchmarkFork(b *testing.B) {
	for _, pools := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("pools=%d", pools), func(b *testing.B) {
			s, _ := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{})}, time.Unix(0, 0), 1)
			for i := range 1_000_000 {
				s.Add(sched.Job{ID: int64(i + 1), Pool: s.Pool(fmt.Sprint("u", i%pools)), Priority: 2, Key: s.Key(nil), Tasks: 1}, time.Unix(0, 0))
			}
			b.ResetTimer()
			for range b.N {
				s.Fork()
			}
		})
	}
}

// BenchmarkEntitlements measures the cost of each sample of the account of fairness.
func BenchmarkEntitlements(b *testing.B) {
	for _, pools := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("pools=%d", pools), func(b *testing.B) {
			start := time.Unix(1_700_000_000, 0)
			s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{})}, start, 1)
			if err != nil {
				b.Fatal(err)
			}
			s.Join("n", cluster.Amounts{"cpu": 1000}, start)
			for i := range pools {
				s.Add(sched.Job{ID: int64(i + 1), Pool: s.Pool(fmt.Sprintf("u%d", i)), Key: s.Key(nil), Priority: 2, Tasks: 10}, start)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Read().Entitlements()
			}
		})
	}
}
