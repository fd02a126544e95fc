package usage

// Jain is the fairness index of Jain, Chiu and Hawe (DEC-TR-301, 1984) of the ratios of received service to
// entitlement. It is 1 if all ratios are equal, and 1/n if one pool has everything. Pools entitled to nothing are
// left out; the index of an empty set is 1.
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
