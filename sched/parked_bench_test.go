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

// BenchmarkParked measures a decision while sub-queues of many pools wait for a license that nobody returns: they
// should cost nothing.
func BenchmarkParked(b *testing.B) {
	for _, parked := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("parked=%d", parked), func(b *testing.B) {
			s, ids, running := benchParked(b, parked, 0)
			rng := rand.New(rand.NewPCG(1, 1))
			now, id, key := s.Read().Instant(), int64(1_000_000_000), s.Key(nil)
			var d sched.Decision
			b.ResetTimer()
			b.ReportAllocs()
			for range b.N {
				now = now.Add(10 * time.Millisecond)
				k := rng.IntN(len(running))
				s.Finish(running[k], now, true)
				id++
				s.Add(sched.Job{ID: id, Pool: ids[rng.IntN(len(ids))], Key: key, Priority: 2, Tasks: 1}, now)
				s.Step(now, 0, &d)
				running[k] = d.Starts[0].Run
			}
		})
	}
}

// BenchmarkRefill measures the cost when sub-queues of many pools wait for a rate and the rate allows one start.
func BenchmarkRefill(b *testing.B) {
	for _, parked := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("parked=%d", parked), func(b *testing.B) {
			s, _, _ := benchParked(b, parked, 100)
			now := s.Read().Instant()
			var d sched.Decision
			b.ResetTimer()
			for range b.N {
				now = now.Add(time.Second)
				s.Step(now, 0, &d)
				if len(d.Starts) != 1 {
					b.Fatalf("%d started at a refill", len(d.Starts))
				}
				s.Finish(d.Starts[0].Run, now, true)
			}
		})
	}
}

// benchParked is a scheduler with a thousand pools whose jobs continue, and other pools that wait for a license or for
// a rate of one start per second.
func benchParked(b *testing.B, parked int, free int64) (*sched.Scheduler, []sched.PoolID, []sched.RunID) {
	start := time.Unix(1_700_000_000, 0)
	s, err := sched.New(sched.Config{
		Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}), HalfLife: 7 * 24 * time.Hour,
		Rates: map[string]sched.Rate{"web": {Count: 1, Per: time.Second, Burst: 1}},
	}, start, 1)
	if err != nil {
		b.Fatal(err)
	}
	const slots = 1000
	s.Join("n", cluster.Amounts{"cpu": slots + free}, start)
	gate := sched.Request{Licenses: map[string]int64{"matlab": 1}}
	if free > 0 {
		gate = sched.Request{Rates: []string{"web"}}
	}
	id := int64(0)
	for i := range parked {
		id++
		s.Add(sched.Job{ID: id, Pool: s.Pool(fmt.Sprint("p", i)), Key: s.KeyOf(gate), Priority: 2, Tasks: 1_000_000}, start)
	}
	ids := make([]sched.PoolID, slots)
	for i := range ids {
		ids[i] = s.Pool(fmt.Sprint("u", i))
		id++
		s.Add(sched.Job{ID: id, Pool: ids[i], Key: s.Key(nil), Priority: 2, Tasks: 1}, start)
	}
	var d sched.Decision
	var running []sched.RunID
	for more := true; more; more = d.More {
		s.Step(start, 0, &d)
		for _, st := range d.Starts {
			if st.Job > int64(parked) {
				running = append(running, st.Run)
			} else {
				s.Finish(st.Run, start, true)
			}
		}
	}
	return s, ids, running
}
