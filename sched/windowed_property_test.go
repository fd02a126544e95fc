package sched_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// TestNobodyStarvesAfterWindows: maintenance and reservations come while an adversary delays a job. Once the last of
// them is over, the job starts within the bound of TestStarvation.
func TestNobodyStarvesAfterWindows(t *testing.T) {
	for seed := uint64(1); seed <= uint64(*duels)/4; seed++ {
		d := newDuel(t, rand.New(rand.NewPCG(seed, 19)), &duel{backfill: backfills[seed%2]})
		last := d.closeNodes()
		if limit := d.bound() + last.Sub(d.comes); d.waits(limit) {
			t.Errorf("seed %d: %s has waited for %v, until %v after the windows; %d tasks run", seed, d, limit,
				d.now.Sub(last), len(d.runs))
		}
	}
}

// closeNodes draws windows, and returns the end of the last one.
func (d *duel) closeNodes() (last time.Time) {
	var all []cluster.Window
	last = d.comes
	for i := range 1 + d.rng.IntN(3) {
		from := epoch.Add(time.Duration(d.rng.Int64N(int64(6 * d.longest))))
		to := from.Add(time.Second + time.Duration(d.rng.Int64N(int64(3*d.longest))))
		w := cluster.Window{Name: fmt.Sprint("w", i), From: from.UnixNano(), To: to.UnixNano(), Closed: d.rng.IntN(3) > 0}
		for n := range d.nodes {
			if d.rng.IntN(2) == 0 {
				w.Nodes = append(w.Nodes, fmt.Sprint("n", n))
			}
		}
		if all = append(all, w); to.After(last) {
			last = to
		}
	}
	d.SetWindows(slices.DeleteFunc(all, func(w cluster.Window) bool { return len(w.Nodes) == 0 }), d.now)
	return last
}
