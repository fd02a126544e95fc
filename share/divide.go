package share

import (
	"math"
	"slices"
)

// Claim is one party's part in the division of a capacity. All amounts are in the
// same unit as the capacity.
type Claim struct {
	Weight float64 // above 0
	Min    float64 // served before anything else, as far as there is demand
	Max    float64 // never exceeded; +Inf is no limit
	Demand float64 // never exceeded: what it could use now
}

func (c Claim) least() float64 { return math.Max(0, math.Min(c.Min, c.most())) }
func (c Claim) most() float64  { return math.Max(0, math.Min(c.Max, c.Demand)) }

// Divide gives every claim its weighted fair part of the capacity: the level L is
// found at which the parts min(most, max(least, weight x L)) add up to the capacity
// ("water-filling", Bertsekas and Gallager, Data Networks, section 6.5.2). What one
// claim cannot use is shared by the others, so nothing is wasted while there is
// demand. When the minima alone exceed the capacity, each is cut by the same factor.
func Divide(capacity float64, claims []Claim) []float64 {
	parts := make([]float64, len(claims))
	least, most := 0.0, 0.0
	for _, c := range claims {
		least += c.least()
		most += c.most()
	}
	switch {
	case capacity <= 0:
	case most <= capacity:
		for i, c := range claims {
			parts[i] = c.most()
		}
	case least >= capacity:
		for i, c := range claims {
			parts[i] = c.least() * capacity / least
		}
	default:
		level := waterLevel(capacity, claims)
		for i, c := range claims {
			parts[i] = math.Min(c.most(), math.Max(c.least(), c.Weight*level))
		}
	}
	return parts
}

// waterLevel walks up the levels at which a claim begins (leaves its minimum) or
// ends (reaches its maximum) to rise, and stops in the stretch where the capacity
// is reached. It takes O(n log n).
func waterLevel(capacity float64, claims []Claim) float64 {
	type bend struct{ level, slope float64 }
	bends := make([]bend, 0, 2*len(claims))
	filled := 0.0
	for _, c := range claims {
		filled += c.least()
		bends = append(bends, bend{c.least() / c.Weight, c.Weight}, bend{c.most() / c.Weight, -c.Weight})
	}
	slices.SortFunc(bends, func(a, b bend) int {
		switch {
		case a.level < b.level:
			return -1
		case a.level > b.level:
			return 1
		}
		return 0
	})
	level, slope := 0.0, 0.0
	for _, b := range bends {
		if rise := slope * (b.level - level); slope > 0 && filled+rise >= capacity {
			break
		} else {
			filled += rise
		}
		level, slope = b.level, slope+b.slope
	}
	if slope <= 0 {
		return level
	}
	return level + (capacity-filled)/slope
}
