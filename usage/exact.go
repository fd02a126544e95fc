package usage

import "math/big"

// Product multiplies exactly, to compare quotients that would differ when rounded: four
// numbers of 53 bits have 212.
func Product(a, b, c, d float64) *big.Float {
	p := new(big.Float).SetPrec(256).SetInt64(1)
	for _, x := range []float64{a, b, c, d} {
		p.Mul(p, big.NewFloat(x))
	}
	return p
}
