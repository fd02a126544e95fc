package bench

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/sched"
)

// BenchmarkNodes measures decisions that fit tasks to nodes of mixed sizes.
func BenchmarkNodes(b *testing.B) {
	for _, x := range []struct{ nodes, pools, requests int }{
		{10, 10, 10}, {1000, 10, 10}, {10_000, 10, 10}, {1000, 10, 40}, {1000, 100, 10},
	} {
		b.Run(fmt.Sprintf("nodes=%d/pools=%d/requests=%d", x.nodes, x.pools, x.requests), func(b *testing.B) {
			m, err := newMachines(allocation.Default().Sched, x.nodes, x.pools, x.requests, 20_000)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			decisions := 0
			for b.Loop() {
				decisions += m.cycle()
			}
			b.ReportMetric(float64(decisions)/b.Elapsed().Seconds(), "decisions/s")
		})
	}
}

func TestMachinesStayFull(t *testing.T) {
	cfg := allocation.Default().Sched
	cfg.Backfill = sched.FirstFit // the other rules keep room for planned starts
	m, err := newMachines(cfg, 8, 5, 20, 500)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		m.cycle()
	}
	if idle := m.s.Read().IdleWhileDemand(); idle != 0 {
		t.Fatalf("%v cpus are idle although something fits", idle)
	}
	for _, n := range m.s.Cluster().Nodes() {
		for r, free := range n.Free {
			if free < 0 {
				t.Fatalf("node %s has %d %s free", n.Name, free, m.s.Cluster().Resource(r))
			}
		}
	}
}
