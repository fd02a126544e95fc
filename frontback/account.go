package frontback

import (
	"math"
	"slices"
	"time"
)

// lotsPerWindow bounds how many lots an account keeps: what is received within a small
// part of the window is forgotten together, with the first of it.
const lotsPerWindow = 1024

// Lot is a benefit that was received at an instant.
type Lot struct {
	At     time.Time `json:"at"`
	Amount float64   `json:"amount"`
}

// account is what one group has: open, the charges of jobs in the QS, which do not age,
// and received, what jobs that ended had, which does.
type account struct {
	name     string
	fraction float64 // of the fair-share groups
	rung     int     // of a priority group, otherwise 0

	open     sum
	jobs     int // with an open charge
	received sum
	lots     []Lot // with a window: what received adds up, oldest first; otherwise at most one
}

// charge adds to the open charges.
func (a *account) charge(amount float64) {
	a.open.add(amount)
	a.jobs++
}

// release takes an open charge away. What is left of no charges at all is exactly 0.
func (a *account) release(amount float64) {
	a.open.add(-amount)
	if a.jobs--; a.jobs == 0 {
		a.open = sum{}
	}
}

// receive adds what a job had that ended at t.
func (a *account) receive(amount float64, t time.Time, s *Settings) {
	if amount == 0 {
		return
	}
	a.age(t, s)
	a.received.add(amount)
	last := len(a.lots) - 1
	switch {
	case last < 0 || s.Window > 0 && t.Sub(a.lots[last].At) >= s.Window/lotsPerWindow:
		a.lots = append(a.lots, Lot{t, amount})
	case s.Window > 0:
		a.lots[last].Amount += amount
	default:
		a.lots[last] = Lot{t, a.received.value()}
	}
}

// age forgets up to t.
func (a *account) age(t time.Time, s *Settings) {
	switch {
	case len(a.lots) == 0:
	case s.Window > 0:
		n := 0
		for n < len(a.lots) && t.Sub(a.lots[n].At) >= s.Window {
			a.received.add(-a.lots[n].Amount)
			n++
		}
		if n > 0 {
			a.lots = slices.Delete(a.lots, 0, n)
		}
		if len(a.lots) == 0 {
			a.received = sum{}
		}
	case s.HalfLife > 0 && t.After(a.lots[0].At):
		amount := a.received.value() * math.Exp2(-float64(t.Sub(a.lots[0].At))/float64(s.HalfLife))
		a.received = sum{high: amount}
		a.lots[0] = Lot{t, amount}
	}
}

// benefit is B[g] as of the last call of age.
func (a *account) benefit() float64 {
	return math.Max(0, a.open.value()) + math.Max(0, a.received.value())
}

// sum adds up in twice the usual precision, so that what is added and taken away again
// leaves no trace, and the order does not matter.
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	h, e := twoSum(s.high, x)
	s.high, s.low = twoSum(h, e+s.low)
}

func (s *sum) value() float64 { return s.high + s.low }

// twoSum is a + b, and what rounding took from it (Knuth, The Art of Computer Programming
// 2, 4.2.2).
func twoSum(a, b float64) (total, lost float64) {
	total = float64(a + b)
	v := float64(total - a)
	return total, float64(a-float64(total-v)) + float64(b-v)
}
