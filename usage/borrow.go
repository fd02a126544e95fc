package usage

import "math"

// Standing is how one of several siblings stands at an instant, in slots.
type Standing struct {
	Due     float64 // its share of what the pool above has
	Running float64
	Want    float64 // what it runs and what waits
}

// Loan is a number of slots that one sibling has of another's share, because that one
// has nothing to run on them.
type Loan struct {
	To, From int
	Slots    float64
}

// Loans says who borrows from whom: who runs more than its share borrows, and who wants
// less than its share lends what it leaves. Slots have no names, so each borrower has of
// each lender in proportion. What is run beyond the share and is not there to lend, since
// its owner wants it, is no loan: that pool is ahead, and the owner is owed.
//
// Example: shares 60, 30 and 10 of 100 slots. The first wants 20 and runs them, so it
// lends 40; the second runs 60 and so has 30 of the 40 as a loan; the third runs 20 and
// has the other 10.
func Loans(s []Standing) []Loan {
	lent, borrowed := 0.0, 0.0
	for _, x := range s {
		lent += x.lends()
		borrowed += x.borrows()
	}
	if lent < 1e-9 || borrowed < 1e-9 {
		return nil
	}
	covered := math.Min(1, lent/borrowed)
	var loans []Loan
	for to, b := range s {
		for from, l := range s {
			if n := b.borrows() * covered * l.lends() / lent; n > 1e-9 {
				loans = append(loans, Loan{to, from, n})
			}
		}
	}
	return loans
}

func (s Standing) lends() float64   { return math.Max(0, s.Due-math.Max(s.Want, s.Running)) }
func (s Standing) borrows() float64 { return math.Max(0, s.Running-s.Due) }
