package policy

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// apportion divides a whole number in proportion to parts by largest remainder
// (Hamilton's method): each gets its part rounded down, and those with the largest
// remainders one more. At equal remainders the larger part goes first, then the first.
func apportion(whole int64, parts []float64) []int64 {
	return apportionBy(whole, parts, func(i int) float64 { return parts[i] })
}

// apportionBy decides between equal remainders by rank, largest first.
func apportionBy(whole int64, parts []float64, rank func(i int) float64) []int64 {
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	got, left := make([]int64, len(parts)), whole
	if sum == 0 {
		return got
	}
	remainder, order := make([]float64, len(parts)), make([]int, 0, len(parts))
	for i, p := range parts {
		if p <= 0 {
			continue
		}
		got[i], remainder[i] = quotient(whole, p, sum)
		left -= got[i]
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(remainder[b], remainder[a]), cmp.Compare(rank(b), rank(a)))
	})
	for k := int64(0); k < left && int(k) < len(order); k++ {
		got[order[k]]++
	}
	return got
}

// quotient is whole * part / sum as a whole number and what remains of the product. Of
// whole numbers both are exact, so that equal remainders are found to be equal.
func quotient(whole int64, part, sum float64) (int64, float64) {
	if part != math.Trunc(part) || sum != math.Trunc(sum) || sum >= 1<<53 {
		exact := float64(whole) * part / sum
		return int64(math.Floor(exact)), (exact - math.Floor(exact)) * sum
	}
	hi, lo := bits.Mul64(uint64(whole), uint64(part))
	quo, rem := bits.Div64(hi, lo, uint64(sum))
	return int64(quo), float64(rem)
}
