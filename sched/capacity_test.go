package sched_test

import (
	"testing"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestCapacityBehindBridge: pools do not divide the uncounted resources that a bridge offers. They divide the
// resources of tasks that run behind it, not those of tasks in its queue.
func TestCapacityBehindBridge(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 4, 1)
	bridge := w.JoinLabelled("b", cluster.Amounts{"cpu": 1_000_000, "mem": 1 << 50},
		cluster.Labels{"bridge": "slurm"}, w.now)
	want := func(capacity, free int64, fair float64) {
		t.Helper()
		all, left, endless := w.Read().Capacity()
		now := w.Read().Entitlements()[0].Now
		if all[0] != capacity || left[0] != free || now != fair || !endless {
			t.Errorf("of %d cpu %d are free, %v are fair now, endless %v; want %d, %d, %v", all[0], left[0], now, endless,
				capacity, free, fair)
		}
	}
	want(4, 4, 0)
	w.submit("a", 6)
	w.submit("b", 6)
	var behind []sched.RunID
	for _, s := range w.step(0) {
		if s.Node == bridge {
			behind = append(behind, s.Run)
		}
	}
	if len(behind) != 8 {
		t.Fatalf("%d tasks went to the bridge, want 8", len(behind))
	}
	want(12, 0, 12)
	w.Queue(behind[0], w.now)
	w.Queue(behind[1], w.now)
	want(10, 0, 10)
	w.SetNode(bridge, cluster.Down, w.now)
	if all, _, endless := w.Read().Capacity(); all[0] != 4 || endless {
		t.Errorf("without the bridge there are %d cpu, endless %v", all[0], endless)
	}
}
