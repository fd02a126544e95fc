package policy

import (
	"cmp"
	"math"
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
		exact := float64(whole) * p / sum
		got[i] = int64(math.Floor(exact))
		remainder[i] = exact - float64(got[i])
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
