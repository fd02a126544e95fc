package policy

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// apportion divides a whole number in proportion to parts by largest remainder (Hamilton's method): each part is
// rounded down, and the parts with the largest remainders get one more each. Of equal remainders the one with the
// larger rank goes first, then the one with the lower index. The sum of the parts must be below 2^63.
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

// quotient returns whole * part / sum, rounded down, and the remainder. Both are exact, so equal remainders compare
// equal. The part is at most the sum.
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

// proportions converts loads to whole numbers in the same proportions, as written in decimal: 12.5 and 37.5 become 125
// and 375 with as many zeros as fit. The sum of the results stays below 2^43, where rounding to whole numbers removes
// the errors of floats: 0.1 and 0.2 together get the same as 0.3. The product of the sum and the argument "most" also
// stays below 2^62.
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
