package workload

import (
	"math"
	"math/rand/v2"
)

// gamma is a gamma distribution: its mean is alpha x scale, its variance alpha x scale².
type gamma struct{ alpha, scale float64 }

// draw uses the method of Marsaglia and Tsang ("A simple method for generating gamma variables", 2000): d(1 +
// cx)³ with a normal x, accepted by a test that nearly always passes. The parameter alpha must be at least 1.
func (g gamma) draw(rng *rand.Rand) float64 {
	d := g.alpha - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v * g.scale
		}
	}
}

// below returns the probability of a value of at most x, by the series of the incomplete gamma function,
//
//	P(a, y) = y^a e^-y / Γ(a+1) · (1 + y/(a+1) + y²/((a+1)(a+2)) + …),   y = x / scale
//
// All terms of the series are positive, so that no digits cancel.
func (g gamma) below(x float64) float64 {
	y := x / g.scale
	if y <= 0 {
		return 0
	}
	log, _ := math.Lgamma(g.alpha + 1)
	sum, term := 1.0, 1.0
	for n := 1.0; term > sum*1e-16; n++ {
		term *= y / (g.alpha + n)
		sum += term
	}
	return sum * math.Exp(g.alpha*math.Log(y)-y-log)
}

// drawUpTo draws until the value is at most "most". The model cuts its tails in this way.
func (g gamma) drawUpTo(rng *rand.Rand, most float64) float64 {
	for {
		if x := g.draw(rng); x <= most {
			return x
		}
	}
}
