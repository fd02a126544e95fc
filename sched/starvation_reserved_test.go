package sched_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// TestStarvationBesideWindows: maintenance and reservations take nodes away while a job waits. Once the last window is
// over, the job starts within the bound of TestStarvation, as if it had come then.
func TestStarvationBesideWindows(t *testing.T) {
	for seed := uint64(1); seed <= uint64(*duels)/4; seed++ {
		if *duelSeed > 0 {
			seed = *duelSeed
		}
		d := newDuel(t, rand.New(rand.NewPCG(seed, 23)), &duel{backfill: backfills[seed%2]})
		over := d.reserveSome()
		limit := d.bound()
		if d.waits(max(0, over.Sub(d.comes)) + limit) {
			t.Errorf("seed %d: %s has waited for %v since the last window ended at %v; %d tasks run", seed, d, limit,
				over.Sub(epoch), len(d.runs))
		}
		if *duelSeed > 0 {
			return
		}
	}
}

// reserveSome sets one to three windows, and returns when the last one ends. Nobody uses the reservations.
func (d *duel) reserveSome() (over time.Time) {
	var all []cluster.Window
	for i := range 1 + d.rng.IntN(3) {
		w := cluster.Window{Name: fmt.Sprint("w", i), Closed: d.rng.IntN(2) == 0}
		for n := range d.nodes {
			if d.rng.IntN(2) == 0 || n == i%len(d.nodes) {
				w.Nodes = append(w.Nodes, fmt.Sprint("n", n))
			}
		}
		from := epoch.Add(time.Duration(d.rng.Int64N(int64(10 * d.longest))))
		to := from.Add(time.Duration(1 + d.rng.Int64N(int64(5*d.longest))))
		w.From, w.To = from.UnixNano(), to.UnixNano()
		all = append(all, w)
		if to.After(over) {
			over = to
		}
	}
	d.SetWindows(all, d.now)
	return over
}
