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

// Rounds returns the rounds in which Allot comes to its result.
func (l Load) Rounds(room int64, classes []sched.Claimant) []Round {
	var all []Round
	l.allot(&allotment{classes: classes, room: room, note: func(r Round) { all = append(all, r) }})
	return all
}

// begun is what there was before a round; nil if nobody wants to know.
func (a *allotment) begun() []int64 {
	if a.note == nil {
		return nil
	}
	return slices.Clone(a.grants)
}

// noted tells of a round that is over, if it gave something.
func (a *allotment) noted(before []int64, parts []float64, amount int64, unit string) {
	if a.note == nil || slices.Equal(before, a.grants) {
		return
	}
	r := Round{Phase: a.phase, Amount: amount, Parts: parts, Unit: unit, Grants: make([]int64, len(before))}
	for i, n := range a.grants {
		r.Grants[i] = n - before[i]
	}
	a.note(r)
}
