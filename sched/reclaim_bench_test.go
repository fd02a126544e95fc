package sched_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// BenchmarkLook measures a step that looks for starving pools among many, and a step that finds a pool and plans
// without success, because all other pools are at their part.
func BenchmarkLook(b *testing.B) {
	for _, pools := range []int{1000, 100_000} {
		for _, starving := range []bool{false, true} {
			b.Run(fmt.Sprintf("pools=%d/starving=%v", pools, starving), func(b *testing.B) {
				w := lookWorld(b, pools, starving)
				var d sched.Decision
				for b.Loop() {
					w.tick(5 * time.Second)
					w.Step(w.now, 0, &d)
				}
				if len(d.Stops) > 0 {
					b.Fatal("something was stopped")
				}
			})
		}
	}
}

func lookWorld(b *testing.B, pools int, starving bool) *world {
	root := share.Pool{Policy: "fair", Reclaim: share.Reclaim{MinAfter: time.Minute}}
	for i := range pools {
		root.Pools = append(root.Pools, share.Pool{Name: fmt.Sprint("p", i), Weight: 1})
	}
	if starving {
		root.Pools[pools-1].Min = map[string]int64{"cpu": 1}
	}
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{})}, epoch, 1)
	if err != nil {
		b.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": int64(pools - 1)}, epoch)
	w := &world{Scheduler: s, t: b, now: epoch}
	for i := range pools - 1 {
		w.submit(fmt.Sprint("p", i), 2)
	}
	var d sched.Decision
	w.Step(w.now, 0, &d)
	w.tick(time.Second)
	w.submit(fmt.Sprint("p", pools-1), 1)
	for range 20 {
		w.tick(5 * time.Second)
		w.Step(w.now, 0, &d)
	}
	return w
}
