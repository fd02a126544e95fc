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

// BenchmarkTwoResources measures one full cycle of a task under deficit. Each pool waits for two kinds of slots that
// cannot replace one another, and one slot is free.
func BenchmarkTwoResources(b *testing.B) {
	for _, pools := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("pools=%d", pools), func(b *testing.B) {
			start := time.Unix(1_700_000_000, 0)
			s, err := sched.New(sched.Config{Root: share.Pool{Policy: "deficit"}, NewPolicy: policy.New(policy.Options{})}, start, 1)
			if err != nil {
				b.Fatal(err)
			}
			s.Join("n", cluster.Amounts{"cpu": 10_000, "map": 500, "reduce": 500}, start)
			kinds := []cluster.Key{s.Key(cluster.Amounts{"cpu": 1, "map": 1}), s.Key(cluster.Amounts{"cpu": 1, "reduce": 1})}
			id := int64(0)
			add := func(pool, kind int, at time.Time) {
				id++
				s.Add(sched.Job{ID: id, Pool: s.Pool(fmt.Sprintf("u%d", pool)), Key: kinds[kind], Priority: 2, Tasks: 1}, at)
			}
			for i := range 2 * max(pools, 5000) {
				add(i/2%pools, i%2, start)
			}
			type task struct {
				sched.RunID
				kind int
			}
			var d sched.Decision
			var running []task
			s.Step(start, 0, &d)
			for _, st := range d.Starts {
				running = append(running, task{st.Run, int(st.Job+1) % 2})
			}
			rng, now := rand.New(rand.NewPCG(1, 1)), start
			b.ResetTimer()
			for range b.N {
				now = now.Add(10 * time.Millisecond)
				k := rng.IntN(len(running))
				s.Finish(running[k].RunID, now, true)
				add(rng.IntN(pools), running[k].kind, now)
				add(rng.IntN(pools), 1-running[k].kind, now)
				s.Step(now, 0, &d)
				running[k].RunID = d.Starts[0].Run
			}
		})
	}
}
