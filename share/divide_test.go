package share_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/share"
)

// divideSlowly finds the level by halving.
func divideSlowly(capacity float64, claims []share.Claim) []float64 {
	most := func(c share.Claim) float64 { return min(c.Max, c.Demand) }
	least := func(c share.Claim) float64 { return min(c.Min, most(c)) }
	at := func(level, rest float64) (parts []float64, sum float64) {
		for _, c := range claims {
			rise := rest
			if c.Weight > 0 {
				rise = c.Weight * level
			}
			part := min(most(c), max(least(c), rise))
			parts, sum = append(parts, part), sum+part
		}
		return parts, sum
	}
	sure := 0.0
	for _, c := range claims {
		sure += least(c)
	}
	if sure > capacity {
		parts, _ := at(0, 0)
		for i := range parts {
			parts[i] *= capacity / sure
		}
		return parts
	}
	const high = 1e6
	halve := func(sum func(level float64) float64) float64 {
		lo, hi := 0.0, high
		for range 200 {
			if mid := (lo + hi) / 2; sum(mid) > capacity {
				hi = mid
			} else {
				lo = mid
			}
		}
		return lo
	}
	level := halve(func(l float64) float64 { _, sum := at(l, 0); return sum })
	rest := 0.0
	if level > high/2 {
		rest = halve(func(r float64) float64 { _, sum := at(level, r); return sum })
	}
	parts, _ := at(level, rest)
	return parts
}

func TestDivideAgainstHalving(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := float64(rapid.IntRange(0, 60).Draw(t, "capacity"))
		var claims []share.Claim
		wanted := 0.0
		for range rapid.IntRange(1, 6).Draw(t, "claims") {
			c := share.Claim{
				Weight: float64(rapid.IntRange(0, 5).Draw(t, "weight")), Min: float64(rapid.IntRange(0, 9).Draw(t, "min")),
				Max: math.Inf(1), Demand: float64(rapid.IntRange(0, 30).Draw(t, "demand")),
			}
			if rapid.Bool().Draw(t, "limited") {
				c.Max = c.Min + float64(rapid.IntRange(0, 9).Draw(t, "max"))
			}
			claims, wanted = append(claims, c), wanted+min(c.Max, c.Demand)
		}
		got, want, sum := share.Divide(capacity, claims), divideSlowly(capacity, claims), 0.0
		for i := range got {
			sum += got[i]
			if !(math.Abs(got[i]-want[i]) <= 1e-6) {
				t.Fatalf("%v of %+v: got %v, want %v", capacity, claims, got, want)
			}
		}
		if math.Abs(sum-min(capacity, wanted)) > 1e-6 {
			t.Fatalf("%v of %v is given, and %v is wanted", sum, capacity, wanted)
		}
	})
}

// TestDivideExample checks the example in the comment of Divide.
func TestDivideExample(t *testing.T) {
	claims := []share.Claim{{Weight: 3, Max: math.Inf(1), Demand: 60}, {Weight: 2, Max: math.Inf(1), Demand: 64}}
	if got := share.Divide(64, claims); math.Abs(got[0]-38.4) > 1e-9 || math.Abs(got[1]-25.6) > 1e-9 {
		t.Errorf("got %v", got)
	}
	claims[0].Demand = 20
	if got := share.Divide(64, claims); got[0] != 20 || got[1] != 44 {
		t.Errorf("got %v", got)
	}
}
