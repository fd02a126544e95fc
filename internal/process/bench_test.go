//go:build linux

package process

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

// BenchmarkTrue starts the smallest program and waits for it, eight at a time, like an agent with many slots.
func BenchmarkTrue(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, as := range []*Identity{nil, {UID: 65534, GID: 65534}} {
			b.Run(fmt.Sprintf("threads=%d/other=%t", threads, as != nil), func(b *testing.B) {
				benchmarkTrue(b, threads, Spec{Argv: []string{"/bin/true"}, As: as, Mark: "bench/1/0/1"})
			})
		}
	}
}

func benchmarkTrue(b *testing.B, threads int, spec Spec) {
	if spec.As != nil {
		asRoot(b)
	}
	r, err := newRunner(threads)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p, err := r.Start(spec)
			if err != nil {
				b.Error(err)
				return
			}
			if o := p.Wait(); o.State != queue.Succeeded {
				b.Error(o)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}
