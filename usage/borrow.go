package usage

import (
	"cmp"
	"math"
	"slices"
)

// Standing is the share and the demand of one sibling at an instant, in slots.
type Standing struct {
	Due     float64 // its share of what the pool above has
	Running float64
	Want    float64 // its running and waiting tasks
}

// Loan is a number of slots of From's share that To uses, because From has no task to run on them.
type Loan struct {
	To, From int
	Slots    float64
}

// Loans says which siblings borrow from which. A sibling that runs more than its share borrows; one that demands
// less than its share lends the rest. Slots have no names, so by convention the largest borrower borrows from the
// largest lender, and so on down. Slots beyond a share are no loan if their owner demands them: then the pool that
// runs them is ahead, and the owner is behind. If the siblings lend fewer slots than the borrowers use beyond
// their shares, each borrower gets its proportional part.
//
// Example: shares 60, 30 and 10 of 100 slots. The first demands 20 and runs them, so it lends 40. The second runs
// 60, so it borrows 30 of the 40. The third runs 20 and borrows the other 10.
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

// side is the number of slots that one sibling borrows or lends.
type side struct {
	sibling int
	slots   float64
}
