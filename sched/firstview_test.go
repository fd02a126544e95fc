package sched_test

import (
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// TestTheFirstJobHasAStartWhileNothingFits: whenever jobs of several requests wait, the first of them has a planned
// start that follows from the numbers, also while no job has room and the scheduler plans nothing. Reading it changes
// no decision. Under lottery no job is the first before the next draw.
func TestTheFirstJobHasAStartWhileNothingFits(t *testing.T) {
	for _, policy := range []string{"fifo", "fair", "fairtree", "deficit", "decay", "drf", "load", "lottery"} {
		t.Run(policy, func(t *testing.T) {
			told := 0
			for seed := range uint64(40) {
				read, other := newLasting(t, usersOf(policy), sched.EASY), newLasting(t, usersOf(policy), sched.EASY)
				rng, twin := rand.New(rand.NewPCG(seed, 3)), rand.New(rand.NewPCG(seed, 3))
				for range 40 {
					submitAny(read, rng)
					submitAny(other, twin)
					if policy != "lottery" {
						told += checkFirst(t, read)
					} else if read.Read().Kept(); len(read.ends) > 0 {
						told++
					}
				}
				if !maps.Equal(read.began, other.began) {
					t.Fatalf("seed %d: with readers jobs start at %v, without at %v", seed, read.began, other.began)
				}
			}
			if told < 300 {
				t.Errorf("only %d starts were told", told)
			}
		})
	}
}

// submitAny submits a narrow or wide job, with or without a time limit, or lets time pass.
func submitAny(w *lasting, rng *rand.Rand) {
	length := time.Duration(1+rng.IntN(60)) * time.Second
	limit := time.Duration(rng.IntN(2)) * length * 2
	pool := string(rune('a' + rng.IntN(3)))
	switch rng.IntN(6) {
	case 0:
		w.add(pool, 2, 1+rng.Int64N(4), length, limit)
	case 1, 2:
		w.add(pool, 1, 1+rng.Int64N(4), length, limit)
	default:
		w.play(w.now.Add(time.Duration(1+rng.IntN(20)) * time.Second))
	}
}

// checkFirst checks the planned start of the first job, and returns 1 if there is one.
func checkFirst(t *testing.T, w *lasting) int {
	t.Helper()
	keys, first := map[cluster.Key]bool{}, int64(0)
	for run := range w.ends {
		keys[w.jobs[w.runs[run]].Key] = true
	}
	for _, j := range w.jobs {
		if w.Read().Waits(j) {
			keys[j.Key] = true
		}
	}
	w.Preview(func(st sched.Start, _ float64) bool { first = st.Job; return false })
	k := w.Read().KeptFor(first)
	switch {
	case first == 0:
		return 0
	case k == nil && len(keys) > 1 && len(w.Read().Kept()) == 0:
		t.Fatalf("at %v job %d is the first of %d requests, and has no planned start", w.now.Sub(epoch), first, len(keys))
	case k == nil:
		return 0
	}
	if _, err := k.AddPlan().Check(); err != nil {
		t.Fatalf("at %v job %d: %v: %+v", w.now.Sub(epoch), first, err, k)
	}
	return 1
}
