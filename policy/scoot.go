package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairlead/fairlead/sched"
)

// This file rounds as Twitter's Scoot does (load_based_sched_alg.go, as described in its README), for comparisons.
// It differs where Scoot loses workers: if no class is entitled to a loan, Scoot divides 0 by 0; this code then
// loans the rest by load percentage.
//
// Example 1 of the source: 1,000 workers, 290 idle. Targets 300, 250, 200, 150, 100, 0; running 200, 300, 0, 100,
// 110, 0. The classes lack 100, 0, 200 and 50 workers. 29%, 57% and 14% of 290 are 85, 166 (only 150 wait) and 41,
// so 14 are left. Now two classes lack 15 and 9. 63% and 37% of 14 are 9 and 6, but after the 9 only 5 are left.
// The grants are 94, 150 and 46.

// hundred scales loads to percentages that add up to 100. With round, it rounds all loads but the largest down to
// whole percentages, and the largest gets the rest.
func hundred(loads []float64, round bool) []float64 {
	sum := 0.0
	for _, l := range loads {
		sum += l
	}
	out := slices.Clone(loads)
	if sum == 0 || sum == 100 {
		return out
	}
	if !round {
		for i := range out {
			out[i] *= 100 / sum
		}
		return out
	}
	return rest(out, func(l float64) float64 { return math.Floor(l / sum * 100) }, 100)
}

// rest rounds all parts but the largest, which gets the rest of the total.
func rest(parts []float64, round func(float64) float64, total float64) []float64 {
	largest := slices.Index(parts, slices.Max(parts))
	out := make([]float64, len(parts))
	for i, p := range parts {
		if i != largest {
			out[i] = round(p)
			total -= out[i]
		}
	}
	out[largest] = total
	return out
}

func scootTargets(whole int64, loads []float64) []int64 {
	if len(loads) == 0 {
		return nil
	}
	percents := hundred(loads, true)
	targets := make([]int64, len(loads))
	for i, t := range rest(percents, func(p float64) float64 { return math.Floor(float64(whole) * p / 100) }, float64(whole)) {
		targets[i] = int64(t)
	}
	return targets
}

// scootAllot runs entitlement rounds, then loan rounds, at most as many of each as there
// are classes.
func scootAllot(of *allotment) {
	a := &scootRounds{of, byLoad(of.classes), hundred(loadsOf(of.classes), true)}
	a.phase = entitlement
	for range a.classes {
		parts, amount := a.unused()
		if !a.give(a.entitledPercents(parts.slots()), amount) {
			break
		}
	}
	a.phase = loan
	for range a.classes {
		percents := a.loanPercents()
		if slices.Max(append([]float64{0}, percents...)) == 0 {
			percents = hundred(a.waitingLoads(), true)
		}
		if !a.give(percents, a.room) {
			break
		}
	}
}

type scootRounds struct {
	*allotment
	order    []int     // of the classes, the largest load first
	percents []float64 // their loads, scaled to 100
}

func byLoad(classes []sched.Claimant) []int {
	order := make([]int, len(classes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(classes[b].Load, classes[a].Load) })
	return order
}

// entitledPercents converts the parts to whole percentages, rounded down. The class with the largest load of all
// gets the rest, even if it is not below its target.
func (a *scootRounds) entitledPercents(parts []float64) []float64 {
	sum, out, left := 0.0, make([]float64, len(parts)), 100.0
	for _, p := range parts {
		sum += p
	}
	if sum == 0 {
		return out
	}
	for _, i := range a.order[1:] {
		out[i] = math.Floor(parts[i] * 100 / sum)
		left -= out[i]
	}
	out[a.order[0]] = left
	return out
}

// give grants percentages of an amount, rounded up, to the classes with the largest loads first.
func (a *scootRounds) give(percents []float64, amount int64) bool {
	before := a.room
	defer a.noted(a.begun(), func() []float64 { return percents }, amount, "%")
	left := min(amount, a.room)
	for _, i := range a.order {
		n := min(a.classes[i].Waiting-a.grants[i], int64(math.Ceil(float64(amount)*percents[i]/100)), left)
		a.grants[i] += n
		a.room -= n
		left -= n
	}
	return a.room < before
}

// waitingLoads are the loads of the classes with waiting tasks, and 0 for the other classes.
func (a *scootRounds) waitingLoads() []float64 {
	loads := make([]float64, len(a.classes))
	for i := range a.classes {
		if a.waits(i) {
			loads[i] = a.percents[i]
		}
	}
	return loads
}

// loanPercents are the further loans that each class may have, in whole percentages. Present loans are counted as
// of the beginning of the step. The order of the operations is Scoot's: 29/100*100 is less than 29 in floating
// point.
func (a *scootRounds) loanPercents() []float64 {
	out, loads, sum := a.room, a.waitingLoads(), 0.0
	for i, c := range a.classes {
		out += max(0, c.Running-c.Target)
		sum += loads[i]
	}
	parts, total := make([]float64, len(loads)), 0.0
	if sum == 0 {
		return parts
	}
	for i, c := range a.classes {
		parts[i] = math.Max(0, math.Floor(loads[i]/sum*float64(out))-float64(max(0, c.Running-c.Target)))
		total += parts[i]
	}
	for i, p := range parts {
		if p > 0 {
			parts[i] = math.Floor(p / total * 100)
		}
	}
	return parts
}
