package sched_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/sched"
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

// TestPromisesHoldBesideTasksOfBothKinds: jobs of all widths, with and without time limits, come under fifo. The
// prediction that a task without a limit ends before a promised start does not let a task with a limit take room beyond
// that start. A start that moved to an earlier time by a prediction is not a promise. Such a move gives up the promised
// room, so one promise of a thousand may be broken. Under conservative a new task without a limit ends the promises to
// all but the first job.
func TestPromisesHoldBesideTasksOfBothKinds(t *testing.T) {
	for _, backfill := range backfills {
		promised, broken := promisesOf(t, backfill)
		if strings.Count(broken, "\n")*1000 > promised || promised < *duels/4 {
			t.Errorf("%v: of %d promises some were broken:%s", backfill, promised, broken)
		}
	}
}

// promisesOf counts the promised starts of random jobs, and names the broken ones.
func promisesOf(t *testing.T, backfill sched.Backfill) (promised int, broken string) {
	for seed := range uint64(*duels) / 4 {
		rng, by := rand.New(rand.NewPCG(seed, 31)), map[int64]time.Time{}
		w, limits := newLasting(t, usersOf("fifo"), backfill), []time.Duration{0, 1, 2}
		if backfill == sched.Conservative { // conservative promises more if few tasks have no limit
			limits = []time.Duration{0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2}
		}
		for range 60 {
			last := w.last
			submitAny(w, rng, limits...)
			if backfill == sched.Conservative && w.last > last && w.jobs[w.last].Limit == 0 {
				clear(by) // all room is planned anew
			}
			for job, k := range w.Read().Kept() {
				if had, known := by[job]; !k.Predicted && (!known || k.From.Before(had)) {
					by[job] = k.From
				}
			}
		}
		w.play(w.now.Add(24 * time.Hour))
		for job, from := range by {
			if promised++; w.began[job].After(from) {
				broken += fmt.Sprintf("\nseed %d: job %d was promised a start by %v and started at %v", seed, job,
					from.Sub(epoch), w.began[job].Sub(epoch))
			}
		}
	}
	return promised, broken
}

// promise lets the victim start, and returns the earliest start that the scheduler promised; zero if there was none.
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
