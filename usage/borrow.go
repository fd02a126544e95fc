package usage

import (
	"cmp"
	"math"
	"slices"
)

// Standing is how one of several siblings stands at an instant, in slots.
type Standing struct {
	Due     float64 // its share of what the pool above has
	Running float64
	Want    float64 // its running and waiting tasks
}

// Loan is a number of slots that one sibling has of another's share, because that one
// has nothing to run on them.
type Loan struct {
	To, From int
	Slots    float64
}

// Loans says who borrows from whom: who runs more than its share borrows, and who wants
// less than its share lends what it leaves. Slots have no names, so the largest borrower
// is said to have those of the largest lender, and so on down. What is run beyond the
// share and is not there to lend, since its owner wants it, is no loan: that pool is
// ahead, and the owner is owed. If there is less to lend than is run beyond the shares,
// each borrower has its part of it.
//
// Example: shares 60, 30 and 10 of 100 slots. The first wants 20 and runs them, so it
// lends 40; the second runs 60 and so has 30 of the 40 as a loan; the third runs 20 and
// has the other 10.
func Loans(s []Standing) []Loan {
	var borrowers, lenders []side
	lent, borrowed := 0.0, 0.0
	for i, x := range s {
		if n := x.Running - x.Due; n > 1e-9 {
			borrowers, borrowed = append(borrowers, side{i, n}), borrowed+n
		} else if n := x.Due - math.Max(x.Want, x.Running); n > 1e-9 {
			lenders, lent = append(lenders, side{i, n}), lent+n
		}
	}
	for i := range borrowers {
		borrowers[i].slots *= math.Min(1, lent/borrowed)
	}
	largestFirst := func(a, b side) int { return cmp.Compare(b.slots, a.slots) }
	slices.SortStableFunc(borrowers, largestFirst)
	slices.SortStableFunc(lenders, largestFirst)
	var loans []Loan
	for len(borrowers) > 0 && len(lenders) > 0 {
		b, l := &borrowers[0], &lenders[0]
		n := math.Min(b.slots, l.slots)
		loans = append(loans, Loan{b.sibling, l.sibling, n})
		if b.slots -= n; b.slots < 1e-9 {
			borrowers = borrowers[1:]
		}
		if l.slots -= n; l.slots < 1e-9 {
			lenders = lenders[1:]
		}
	}
	return loans
}

// side is what one sibling borrows or lends.
type side struct {
	sibling int
	slots   float64
}
