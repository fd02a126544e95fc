package policy

import (
	"slices"

	"github.com/fairlead/fairlead/sched"
)

// The phases of an allotment.
const (
	entitlement = "entitlement"
	loan        = "loan"
)

// Round is one round in which the policy load divides free slots, for those who want to
// follow it by hand.
type Round struct {
	Phase  string    // entitlement, or loan
	Amount int64     // slots that are divided
	Parts  []float64 // in proportion to which, by class
	Unit   string    // of the parts: % where they are whole percentages, else slots
	Grants []int64   // what each class gets
}

// allotment is a division that is under way.
type allotment struct {
	classes []sched.Claimant
	grants  []int64
	room    int64
	phase   string
	note    func(Round) // of each round that gave something; may be nil
}

func (a *allotment) waits(i int) bool { return a.classes[i].Waiting > a.grants[i] }

func (a *allotment) running(i int) int64 { return a.classes[i].Running + a.grants[i] }

// claims are in proportion to what slots are divided: slots, counted in whole parts of one, so that
// equal claims are equal.
type claims struct {
	of  []int64 // by class
	per int64   // parts of a slot
}

// slots are the claims for somebody who reads them.
func (c claims) slots() []float64 {
	out := make([]float64, len(c.of))
	for i, n := range c.of {
		out[i] = float64(n) / float64(c.per)
	}
	return out
}

// unused is what each class is entitled to and does not have, 0 if nothing waits, and
// what of the room may go to entitlements.
func (a *allotment) unused() (claims, int64) {
	lacks := make([]int64, len(a.classes))
	for i, c := range a.classes {
		if left := c.Target - a.running(i); left > 0 && a.waits(i) {
			lacks[i] = left
		}
	}
	return claims{lacks, 1}, min(a.room, sumOf(lacks))
}

// loans is what each class may have on loan and has not. Where only classes without a load wait,
// they may have the same.
func (a *allotment) loans() (claims, int64) {
	loads, waiting, out := make([]float64, len(a.classes)), make([]int64, len(a.classes)), a.room
	for i, c := range a.classes {
		out += a.onLoan(i)
		if a.waits(i) {
			loads[i], waiting[i] = c.Load, 1
		}
	}
	parts := proportions(loads, out)
	total := sumOf(parts)
	switch {
	case sumOf(waiting) == 0:
		return claims{waiting, 1}, 0
	case total == 0:
		return claims{waiting, 1}, a.room
	}
	for i := range parts {
		parts[i] = waiting[i] * max(0, parts[i]*out-a.onLoan(i)*total)
	}
	return claims{parts, total}, a.room
}

// onLoan is what a class has above its target.
func (a *allotment) onLoan(i int) int64 { return max(0, a.running(i)-a.classes[i].Target) }

func (a *allotment) load(i int) float64 { return a.classes[i].Load }

// whole divides an amount in proportion by largest remainder if nobody has less waiting
// than its part, and reports whether it did. Rounds would give those with large parts more
// than a slot too much, because they divide the rest after rounding down by the remaining lack.
func (a *allotment) whole(c claims, amount int64) bool {
	if amount <= 0 {
		return false
	}
	slots := apportion(amount, c.of, a.load)
	for i, n := range slots {
		if n > a.classes[i].Waiting-a.grants[i] {
			return false
		}
	}
	defer a.noted(a.begun(), c.slots, amount, "")
	before := a.room
	for i, n := range slots {
		a.give(i, n)
	}
	return a.room < before
}

// round divides an amount in proportion, and reports whether something was given. Parts
// are rounded down, as what they leave is divided anew in the next round; only when no
// part comes to a whole slot, the largest remainders get one each.
func (a *allotment) round(c claims, amount int64) bool {
	sum, before := sumOf(c.of), a.room
	if amount <= 0 || sum == 0 {
		return false
	}
	defer a.noted(a.begun(), c.slots, amount, "")
	for i, n := range c.of {
		slots, _ := quotient(amount, n, sum)
		a.give(i, slots)
	}
	if a.room == before {
		for i, n := range apportion(amount, c.of, a.load) {
			a.give(i, n)
		}
	}
	return a.room < before
}

func (a *allotment) give(i int, n int64) {
	n = min(n, a.classes[i].Waiting-a.grants[i])
	a.grants[i] += n
	a.room -= n
}

func loadsOf(classes []sched.Claimant) []float64 {
	loads := make([]float64, len(classes))
	for i, c := range classes {
		loads[i] = c.Load
	}
	return loads
}

// begun is what there was before a round; nil if nobody wants to know.
func (a *allotment) begun() []int64 {
	if a.note == nil {
		return nil
	}
	return slices.Clone(a.grants)
}

// noted tells of a round that is over, if it gave something.
func (a *allotment) noted(before []int64, parts func() []float64, amount int64, unit string) {
	if a.note == nil || slices.Equal(before, a.grants) {
		return
	}
	r := Round{Phase: a.phase, Amount: amount, Parts: parts(), Unit: unit, Grants: make([]int64, len(before))}
	for i, n := range a.grants {
		r.Grants[i] = n - before[i]
	}
	a.note(r)
}
