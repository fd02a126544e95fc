package workload

import (
	"math"
	"math/rand/v2"
)

// gamma is a gamma distribution: its mean is alpha x scale, its variance alpha x scale².
type gamma struct{ alpha, scale float64 }

// draw is Marsaglia and Tsang's way ("A simple method for generating gamma variables",
// 2000): d(1 + cx)³ with x normal, taken or left by a test that is nearly always passed.
// alpha must be at least 1.
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

// below is the probability of a value of at most x: the series of the incomplete gamma
// function,
//
//	P(a, y) = y^a e^-y / Γ(a+1) · (1 + y/(a+1) + y²/((a+1)(a+2)) + …),   y = x / scale
//
// all of whose terms are positive, so that nothing cancels.
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

// drawUpTo draws until the value is not more than most: the model cuts its tails so.
func (g gamma) drawUpTo(rng *rand.Rand, most float64) float64 {
	for {
		if x := g.draw(rng); x <= most {
			return x
		}
	}
}
