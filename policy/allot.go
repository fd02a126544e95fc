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

// Round is one round in which the policy load divides free slots, for people who check the division by hand.
type Round struct {
	Phase  string    // entitlement, or loan
	Amount int64     // slots to divide
	Parts  []float64 // the proportion, by class
	Unit   string    // of Parts: % for whole percentages, otherwise slots
	Grants []int64   // what each class gets
}

// allotment is a division in progress.
type allotment struct {
	classes []sched.Claimant
	grants  []int64
	room    int64
	phase   string
	note    func(Round) // called for each round that grants slots; may be nil
}

func (a *allotment) waits(i int) bool { return a.classes[i].Waiting > a.grants[i] }

func (a *allotment) running(i int) int64 { return a.classes[i].Running + a.grants[i] }

// claims are the proportions in which slots are divided. They are integers in units of 1/per of a slot, so that equal
// claims are exactly equal.
type claims struct {
	of  []int64 // by class
	per int64   // parts of a slot
}

// slots converts the claims into slots, for people to read.
func (c claims) slots() []float64 {
	out := make([]float64, len(c.of))
	for i, n := range c.of {
		out[i] = float64(n) / float64(c.per)
	}
	return out
}

// unused returns how far each class with waiting tasks is below its target, and how many free slots may go to such
// classes.
func (a *allotment) unused() (claims, int64) {
	lacks := make([]int64, len(a.classes))
	for i, c := range a.classes {
		if left := c.Target - a.running(i); left > 0 && a.waits(i) {
			lacks[i] = left
		}
	}
	return claims{lacks, 1}, min(a.room, sumOf(lacks))
}

// loans returns the further loan that each class may have. If only classes without a load wait, all of them may have
// the same further loan.
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

// onLoan is the number of slots that a class has above its target.
func (a *allotment) onLoan(i int) int64 { return max(0, a.running(i)-a.classes[i].Target) }

func (a *allotment) load(i int) float64 { return a.classes[i].Load }

// divide divides free slots by claims: at once if no class has fewer waiting tasks than its part, else in rounds. It
// calls the function "claimed" again after each round, as long as slots are free.
func (a *allotment) divide(phase string, claimed func() (claims, int64)) {
	a.phase = phase
	for rounds := 0; a.room > 0; rounds++ {
		c, amount := claimed()
		if rounds == 0 && a.whole(c, amount) || !a.round(c, amount) {
			return
		}
	}
}

// whole divides the amount in proportion by largest remainder and reports whether it did. If a class has fewer waiting
// tasks than its part, it does nothing, and rounds divide the amount. Rounds alone would not do: they can give a large
// class more than one slot too many, because they round down and then divide the rest in proportion to the remaining
// lack.
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

// round divides the amount in proportion and reports whether it granted slots. It rounds parts down, because the next
// round divides the rest. If no part reaches a whole slot, the largest remainders get one slot each.
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

// begun copies the grants before a round; it returns nil if the rounds are not recorded.
func (a *allotment) begun() []int64 {
	if a.note == nil {
		return nil
	}
	return slices.Clone(a.grants)
}

// noted passes a finished round to the function "note", if the round granted slots.
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
