package policy_test

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
)

// Of 105 slots, 6% and 46% both leave 0.3: the last slot is the larger load's. In floating
// point the remainders differ.
func TestTargetsAtEqualRemainders(t *testing.T) {
	got := policy.Load{}.Targets(105, []float64{6, 46, 20, 6, 22})
	if want := []int64{6, 49, 21, 6, 23}; !slices.Equal(got, want) {
		t.Errorf("targets %v, want %v", got, want)
	}
}

// Where everybody can use its part, nobody is a slot or more away from it: of 4 slots, the
// lacks 155, 111 and 371 have 0.97, 0.70 and 2.33.
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
