package share

import (
	"math"
	"slices"
)

// Claim is one party's claim in the division of a capacity. All amounts are in the unit of the capacity.
type Claim struct {
	Weight float64 // 0: shares the rest that the others leave
	Min    float64 // served first, up to the demand
	Max    float64 // never exceeded; +Inf is no limit
	Demand float64 // never exceeded: the amount that the party could use now
}

func (c Claim) least() float64 { return math.Max(0, math.Min(c.Min, c.max())) }
func (c Claim) max() float64   { return math.Max(0, math.Min(c.Max, c.Demand)) }

// Divide gives every claim its weighted fair share of the capacity. It finds the level L at which the parts
// min(most, max(least, weight x L)) add up to the capacity ("water-filling", Bertsekas and Gallager, Data Networks,
// section 6.5.2). If a claim cannot use its part, the others share the rest, so nothing is wasted while there is
// demand. If the minima alone exceed the capacity, all are cut by the same factor. Claims of weight 0 get their
// minimum and an equal part of the capacity that claims with a weight cannot use.
//
// Example: 64 slots, weights 3 and 2, demands 60 and 64: the parts are 38.4 and 25.6. With a demand of 20 instead
// of 60 they are 20 and 44.
func Divide(capacity float64, claims []Claim) []float64 {
	parts := make([]float64, len(claims))
	least, most := 0.0, 0.0
	for _, c := range claims {
		least += c.least()
		most += c.max()
	}
	switch {
	case capacity <= 0:
	case most <= capacity:
		for i, c := range claims {
			parts[i] = c.max()
		}
	case least >= capacity:
		for i, c := range claims {
			parts[i] = c.least() * capacity / least
		}
	default:
		fill(capacity, claims, parts)
	}
	return parts
}

// fill raises the level until the capacity is used: first for the claims with a weight and, once these have all
// that they can use, for the claims without.
func fill(capacity float64, claims []Claim, parts []float64) {
	weighted, least := 0.0, 0.0
	for _, c := range claims {
		if c.Weight > 0 {
			weighted += c.max()
		} else {
			least += c.least()
		}
	}
	first, second := capacity-least, 0.0
	if weighted < first {
		first, second = math.Inf(1), capacity-weighted
	}
	level := waterLevel(first, claims, func(c Claim) float64 { return c.Weight })
	rest := waterLevel(second, claims, func(c Claim) float64 {
		if c.Weight > 0 {
			return 0
		}
		return 1
	})
	for i, c := range claims {
		rise := rest
		if c.Weight > 0 {
			rise = c.Weight * level
		}
		parts[i] = math.Min(c.max(), math.Max(c.least(), rise))
	}
}

// waterLevel visits, in ascending order, the levels at which a claim starts to rise (leaves its minimum) or stops
// (reaches its maximum), and ends where the capacity is reached. Claims of weight 0 do not rise and are left out.
// It takes O(n log n).
func waterLevel(capacity float64, claims []Claim, weight func(Claim) float64) float64 {
	type bend struct{ level, slope float64 }
	bends := make([]bend, 0, 2*len(claims))
	filled := 0.0
	for _, c := range claims {
		if w := weight(c); w > 0 && c.max() > 0 {
			filled += c.least()
			bends = append(bends, bend{c.least() / w, w}, bend{c.max() / w, -w})
		}
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
