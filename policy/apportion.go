package policy

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// apportion divides a whole number in proportion to parts by largest remainder
// (Hamilton's method): each gets its part rounded down, and those with the largest
// remainders one more. At equal remainders the larger rank goes first, then the first. The
// sum of the parts is below 2^63.
func apportion(whole int64, parts []int64, rank func(i int) float64) []int64 {
	got, left, sum := make([]int64, len(parts)), whole, sumOf(parts)
	if sum == 0 {
		return got
	}
	remainder, order := make([]int64, len(parts)), make([]int, 0, len(parts))
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

// quotient is whole * part / sum as a whole number and what remains of the product. Both are
// exact, so that equal remainders are found to be equal. The part is at most the sum.
func quotient(whole, part, sum int64) (quo, rem int64) {
	hi, lo := bits.Mul64(uint64(whole), uint64(part))
	q, r := bits.Div64(hi, lo, uint64(sum))
	return int64(q), int64(r)
}

func sumOf(parts []int64) (sum int64) {
	for _, p := range parts {
		sum += p
	}
	return sum
}

// proportions are whole numbers in the proportions of the loads as these are written: 12.5 and 37.5
// are 125 and 375. Twelve digits of their sum count, so that 0.1 + 0.2 is 0.3, and of fewer so many
// that the sum times most stays below 2^62.
func proportions(loads []float64, most int64) []int64 {
	sum := 0.0
	for _, l := range loads {
		sum += l
	}
	out := make([]int64, len(loads))
	if sum <= 0 {
		return out
	}
	room := math.Min(1<<43, (1<<61)/float64(max(most, 1)))
	scale := math.Pow10(int(math.Min(300, math.Floor(math.Log10(room/sum)))))
	for i, l := range loads {
		out[i] = int64(math.Round(l * scale))
	}
	return out
}
