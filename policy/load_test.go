package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
)

// Of 105 slots, 6% and 46% both leave the remainder 0.3: the last slot goes to the larger load. In floating point the
// remainders differ.
func TestTargetsAtEqualRemainders(t *testing.T) {
	got := policy.Load{}.Targets(105, []float64{6, 46, 20, 6, 22})
	if want := []int64{6, 49, 21, 6, 23}; !slices.Equal(got, want) {
		t.Errorf("targets %v, want %v", got, want)
	}
}

// If every class can use its part, no class is a slot or more away from it. Of 4 slots, classes that lack 155, 111 and
// 371 have the parts 0.97, 0.70 and 2.33.
func TestAllotWithinASlotOfTheParts(t *testing.T) {
	classes := []sched.Claimant{
		{Load: 39, Target: 617, Running: 462, Waiting: 2703},
		{Load: 7, Target: 111, Running: 0, Waiting: 2414},
		{Load: 56, Target: 887, Running: 516, Waiting: 3187},
	}
	got := policy.Load{}.Allot(4, classes)
	if want := []int64{1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("allotted %v, want %v", got, want)
	}
}

// One of eight slots is in use and seven are free. Three of these go to classes below their targets. Of the other four,
// the parts of the first, the fourth and the fifth class are 4/7, 4/7 and 20/7. The fifth class gets two slots, and one
// more by its remainder. The last slot goes to the first of the two equal classes.
func TestAllotAtEqualRemainders(t *testing.T) {
	classes := classesOf(8, []float64{1, 30, 1, 1, 5, 1})
	for i, waiting := range []int64{1, 2, 0, 2, 7, 0} {
		classes[i].Waiting = waiting
	}
	classes[0].Running = 1
	got := policy.Load{}.Allot(7, classes)
	if want := []int64{1, 2, 0, 0, 4, 0}; !slices.Equal(got, want) {
		t.Errorf("allotted %v, want %v", got, want)
	}
}

// classesOf returns idle classes with loads and their targets.
func classesOf(slots int64, loads []float64) []sched.Claimant {
	classes := make([]sched.Claimant, len(loads))
	for i, target := range (policy.Load{}).Targets(slots, loads) {
		classes[i] = sched.Claimant{Load: loads[i], Target: target}
	}
	return classes
}

// TestOnlyProportionsCount: the division of the slots follows from the proportions of the loads, however they are
// written.
func TestOnlyProportionsCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		slots, loads := 1+rng.Int64N(20), make([]float64, 2+rng.IntN(5))
		for i := range loads {
			loads[i] = float64(rng.IntN(8) * rng.IntN(8))
		}
		classes, room := classesOf(slots, loads), slots
		for i := range classes {
			c := &classes[i]
			c.Waiting, c.Running = rng.Int64N(10), rng.Int64N(1+room)
			room -= c.Running
		}
		targets, allotted := policy.Load{}.Targets(slots, loads), policy.Load{}.Allot(room, classes)
		for _, factor := range []float64{0.1, 0.01, 2.5, 0.3, 1.0 / 64, 3, 1e6} {
			scaled := slices.Clone(loads)
			for i := range scaled {
				scaled[i] *= factor
				classes[i].Load = scaled[i]
			}
			if got := (policy.Load{}).Allot(room, classes); !slices.Equal(got, allotted) {
				t.Fatalf("of %d slots, by the loads %v: %v; by %v times these %v\n%v", room, loads, allotted, factor, got, classes)
			}
			if got := (policy.Load{}).Targets(slots, scaled); !slices.Equal(got, targets) {
				t.Fatalf("of %d slots, the loads %v have the targets %v; %v times these %v", slots, loads, targets, factor, got)
			}
		}
	}
}

// TestSingleSlotAtEqualKeys: classes with the same value by the formula have the same key, so that the larger load goes
// first.
func TestSingleSlotAtEqualKeys(t *testing.T) {
	for open := range 120 {
		for loans := range 12 {
			for load := 1; load < open; load++ {
				at := sched.Setting{Open: float64(open), Loans: float64(loans)}
				first := loadKey(load, 5, at)
				for other := load + 1; other+load <= open; other++ {
					more := (other - load) * loans
					if more%open != 0 {
						continue
					}
					if second := loadKey(other, 5+more/open, at); first != second {
						t.Fatalf("of %d, with %d slots on loan, the loads %d and %d have the keys %v and %v", open, loans, load, other, first, second)
					}
				}
			}
		}
	}
}

// loadKey returns the key of a class that is entitled to five slots.
func loadKey(load, running int, at sched.Setting) float64 {
	p := &sched.Pool{Weight: float64(load), Target: 5}
	p.Running = float64(running)
	return policy.Load{}.Terms(p, at).Key
}
