package usage

import "math/big"

// Product multiplies exactly, to compare quotients that would differ by rounding: the product of four 53-bit
// numbers has at most 212 bits.
func Product(a, b, c, d float64) *big.Float {
	p := new(big.Float).SetPrec(256).SetInt64(1)
	for _, x := range []float64{a, b, c, d} {
		p.Mul(p, big.NewFloat(x))
	}
	return p
}
