package engine_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/store/memory"
)

// BenchmarkFairness measures one measurement of fairness and one answer to shares. The
// loop spends a hundredth of its time on such measurements.
func BenchmarkFairness(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		loop, err := newLoop(b.Context(), memory.New("cpu"), engine.LoopOptions{})
		if err != nil {
			b.Fatal(err)
		}
		var jobs []fairlead.Job
		for i := range n {
			jobs = append(jobs, fairlead.Job{User: fmt.Sprint("u", i), Kind: "work"})
		}
		if _, err := loop.Client().Submit(b.Context(), jobs...); err != nil {
			b.Fatal(err)
		}
		views.Pools(b.Context(), loop)
		b.Run(fmt.Sprintf("measure/pools=%d", n), func(b *testing.B) {
			for b.Loop() {
				loop.Measure()
			}
		})
		b.Run(fmt.Sprintf("shares/pools=%d", n), func(b *testing.B) {
			for b.Loop() {
				views.Fairness(b.Context(), loop)
			}
		})
	}
}
