package sched_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// TestTheFirstJobHasAStartWhileNothingFits: if jobs of several requests wait, the first of them always has a planned
// start that follows from the numbers. That holds even while no job has room and the scheduler plans nothing. Reading
// the planned start changes nothing in the next step.
func TestTheFirstJobHasAStartWhileNothingFits(t *testing.T) {
	for _, policy := range []string{"fifo", "fair", "fairtree", "deficit", "decay", "drf", "load"} {
		t.Run(policy, func(t *testing.T) {
			told := 0
			for seed := range uint64(12) {
				rng, w := rand.New(rand.NewPCG(seed, 3)), newLasting(t, usersOf(policy), sched.EASY)
				for range 40 {
					submitAny(w, rng, 0, 2)
					unread := w.Fork()
					told += checkFirst(t, w)
					sameStep(t, w.Fork(), unread, w.now.Add(time.Minute))
				}
			}
			if told < 100 {
				t.Errorf("only %d starts were told", told)
			}
		})
	}
}

// sameStep compares the next steps of two copies.
func sameStep(t *testing.T, read, unread *sched.Scheduler, at time.Time) {
	t.Helper()
	var a, b sched.Decision
	read.Step(at, 0, &a)
	unread.Step(at, 0, &b)
	if !slices.EqualFunc(a.Starts, b.Starts, func(x, y sched.Start) bool { return x.Job == y.Job && x.Node == y.Node }) ||
		len(read.Read().Kept()) != len(unread.Read().Kept()) {
		t.Fatalf("after a reader jobs start at %+v, without at %+v", a.Starts, b.Starts)
	}
}

// submitAny submits a narrow or wide job, or lets time pass. The time limit of the job is one of the multiples of its
// length; 0 is none.
func submitAny(w *lasting, rng *rand.Rand, limits ...time.Duration) {
	length := time.Duration(1+rng.IntN(60)) * time.Second
	limit := limits[rng.IntN(len(limits))] * length
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
		if now, _ := w.Read().Waits(j); now {
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
