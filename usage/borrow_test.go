package usage_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/usage"
)

// TestLoansExample plays the example in the comment of Loans.
func TestLoansExample(t *testing.T) {
	got := usage.Loans([]usage.Standing{{60, 20, 20}, {30, 60, 200}, {10, 20, 40}})
	want := []usage.Loan{{To: 1, From: 0, Slots: 30}, {To: 2, From: 0, Slots: 10}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// The owner wants its share back: the tasks that the other still runs no longer count as a loan.
	if got := usage.Loans([]usage.Standing{{60, 20, 100}, {40, 80, 80}}); got != nil {
		t.Errorf("got %v", got)
	}
}

// TestLoansBalance: no pool borrows more than it runs beyond its share, no pool lends more than it leaves unused, and
// the sum of the loans is as large as possible.
func TestLoansBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []usage.Standing
		borrow, lend := 0.0, 0.0
		for range rapid.IntRange(1, 6).Draw(t, "pools") {
			s := usage.Standing{Due: float64(rapid.IntRange(0, 20).Draw(t, "due")), Running: float64(rapid.IntRange(0, 20).Draw(t, "running"))}
			s.Want = s.Running + float64(rapid.IntRange(0, 5).Draw(t, "waiting"))
			all = append(all, s)
			borrow += max(0, s.Running-s.Due)
			lend += max(0, s.Due-max(s.Want, s.Running))
		}
		sum := 0.0
		to, from := make([]float64, len(all)), make([]float64, len(all))
		for _, l := range usage.Loans(all) {
			sum += l.Slots
			to[l.To] += l.Slots
			from[l.From] += l.Slots
		}
		for i, s := range all {
			if to[i] > max(0, s.Running-s.Due)+1e-6 || from[i] > max(0, s.Due-max(s.Want, s.Running))+1e-6 {
				t.Fatalf("%+v borrows %v and lends %v", s, to[i], from[i])
			}
		}
		if !near(sum, min(borrow, lend)) {
			t.Fatalf("%v is lent of %v, to those who have %v too much", sum, lend, borrow)
		}
	})
}
