package usage

// Jain is the fairness index of Jain, Chiu and Hawe (DEC-TR-301, 1984) of the
// ratios of what each pool received to what it was entitled to: 1 when all are
// equal, 1/n when one has everything. Pools entitled to nothing are left out; of
// nothing at all the index is 1.
func Jain(received, entitled []float64) float64 {
	n, sum, squares := 0.0, 0.0, 0.0
	for i, e := range entitled {
		if e > 0 {
			x := received[i] / e
			n++
			sum += x
			squares += x * x
		}
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (n * squares)
}
