package workload

import (
	"math"
	"slices"
	"testing"
)

// TestGammaAgainstItself checks the fraction of the draws below the mean against the series, the mean against
// alpha·scale, and the variance against alpha·scale².
func TestGammaAgainstItself(t *testing.T) {
	for _, g := range []gamma{{1, 2}, {4.2, 0.94}, {8.9186, 3.6680}, {639.1, 0.0156}} {
		rng := stream(1, 99)
		const n = 100_000
		var sum, squares, below float64
		middle := g.alpha * g.scale
		for range n {
			x := g.draw(rng)
			sum, squares = sum+x, squares+x*x
			if x < middle {
				below++
			}
		}
		spread := math.Sqrt(g.alpha) * g.scale
		near(t, "mean", sum/n, middle, 4*spread/math.Sqrt(n))
		near(t, "variance", (squares/n-sum/n*sum/n)/(spread*spread), 1, 0.05)
		near(t, "below the mean", below/n, g.below(middle), 0.007)
	}
}

// TestGammaBelow compares with known values: 1 - e^-x for alpha 1, and 1 - e^-x (1 + x + x²/2) for alpha 3.
func TestGammaBelow(t *testing.T) {
	for _, x := range []float64{0, 0.1, 1, 5, 20} {
		near(t, "shape 1", gamma{1, 2}.below(2*x), 1-math.Exp(-x), 1e-12)
		near(t, "shape 3", gamma{3, 1}.below(x), 1-math.Exp(-x)*(1+x+x*x/2), 1e-12)
	}
}

// TestUsersFollowZipf checks that the k-th user submits in proportion to 1/k^s.
func TestUsersFollowZipf(t *testing.T) {
	u, rng := newUsers(20, 1), stream(1, 1)
	var count [21]float64
	const n = 100_000
	for range n {
		count[u.draw(rng)]++
	}
	harmonic := 0.0
	for k := 1; k <= 20; k++ {
		harmonic += 1 / float64(k)
	}
	for _, k := range []int{1, 2, 5, 20} {
		near(t, "part of a user", count[k]/n, 1/float64(k)/harmonic, 0.006)
	}
	if alike := newUsers(4, 0); alike.upTo[3] != 4 {
		t.Errorf("with exponent 0 users are not alike: %v", alike.upTo)
	}
}

// TestEstimates checks that estimates are never below the run time, and that those of people are round.
func TestEstimates(t *testing.T) {
	rng := stream(1, 1)
	used := 0.0
	const n = 10_000
	for i := range int64(n) {
		run := 1 + i*3
		e := Estimates{}.of(run, rng)
		if e < run || e%60 != 0 || !slices.Contains(round, e/60) {
			t.Fatalf("%d s are estimated as %d s", run, e)
		}
		used += float64(run) / float64(e) / n
	}
	if used < 0.3 || used > 0.5 { // half, less the effect of rounding up
		t.Errorf("jobs use %.2f of their estimates", used)
	}
	if e := (Estimates{Exact: true}).of(77, rng); e != 77 {
		t.Errorf("exact: %d", e)
	}
	if e := (Estimates{Factor: 1.5}).of(77, rng); e != 116 {
		t.Errorf("by factor: %d", e)
	}
}

func TestParseEstimates(t *testing.T) {
	for text, want := range map[string]Estimates{"users": {}, "exact": {Exact: true}, "2.5": {Factor: 2.5}} {
		if got, err := ParseEstimates(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0.5", "2x", "nan", "-1"} {
		if _, err := ParseEstimates(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
