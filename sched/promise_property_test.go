package sched_test

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestPromisesAreKept: under fifo, a planned start that rests on time limits only is a promise: the job starts no
// later, whatever others submit, with or without time limits, and however wrong predictions are.
func TestPromisesAreKept(t *testing.T) {
	promised := 0
	for seed := uint64(1); seed <= uint64(*duels)/2; seed++ {
		d := newDuel(t, rand.New(rand.NewPCG(seed, 17)), &duel{backfill: backfills[seed%2], fifo: true})
		if by := d.promise(); !by.IsZero() {
			if promised++; d.now.After(by) {
				t.Errorf("seed %d: %s was promised a start by %v and started at %v", seed, d, by.Sub(epoch),
					d.now.Sub(epoch))
			}
		}
	}
	if promised < *duels/8 {
		t.Errorf("only %d of %d jobs were promised a start", promised, *duels/2)
	}
}

// promise lets the victim start, and returns the earliest start that it was promised; zero if none was.
func (d *duel) promise() (by time.Time) {
	for limit := d.bound(); ; {
		d.act()
		if d.step(); d.started || !d.came.IsZero() && d.now.Sub(d.came) > limit {
			return by
		}
		k := d.Read().KeptFor(d.victim)
		if !d.came.IsZero() && k != nil && !k.Predicted && !k.MayMove && (by.IsZero() || k.From.Before(by)) {
			by = k.From
		}
		d.pass()
	}
}
