package usage

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestDeficitsAgainstSampling compares the exact sums with a simple version that computes every rate anew at every
// event by bisection, and adds rate x time.
func TestDeficitsAgainstSampling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "children")
		d := NewDeficits(0)
		type plain struct{ weight, least, most, running, ideal, received, gone float64 }
		kids := make([]plain, n)
		rate, now := 0.0, 0.0
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			dt := float64(rapid.IntRange(0, 20).Draw(t, "dt")) / 4
			rates := make([]float64, n)
			for i, k := range kids {
				rates[i] = math.Min(k.most, math.Max(math.Min(k.least, k.most), k.weight*slowLevel(rate, func(l float64) (sum float64) {
					for _, k := range kids {
						sum += math.Min(k.most, math.Max(math.Min(k.least, k.most), k.weight*l))
					}
					return sum
				})))
			}
			now += dt
			d.Advance(now)
			for i := range kids {
				kids[i].ideal += rates[i] * dt
				kids[i].received += kids[i].running * dt
			}
			i := rapid.IntRange(0, n-1).Draw(t, "child")
			k := &kids[i]
			switch rapid.IntRange(0, 2).Draw(t, "event") {
			case 0:
				was := k.most
				k.weight = float64(rapid.IntRange(1, 4).Draw(t, "weight"))
				k.least = float64(rapid.SampledFrom([]int{0, 0, 0, 2}).Draw(t, "least"))
				k.most = float64(rapid.SampledFrom([]int{0, 1, 2, 5, 100, 1000}).Draw(t, "most"))
				if was == 0 && now > k.gone {
					k.ideal, k.received = 0, 0
				}
				if was > 0 && k.most == 0 {
					k.gone = now
				}
				d.Set(i, k.weight, k.least, k.most)
			case 1:
				width := float64(rapid.IntRange(0, 3).Draw(t, "running")) - k.running
				k.running += width
				d.Run(i, width)
			case 2:
				rate = float64(rapid.IntRange(0, 40).Draw(t, "rate"))
				d.SetRate(rate)
			}
			for i, k := range kids {
				if k.most > 0 && (math.Abs(d.Ideal(i)-k.ideal) > 1e-6 || math.Abs(d.Received(i)-k.received) > 1e-6) {
					t.Fatalf("at %v child %d: ideal %v received %v, want %v and %v", now, i, d.Ideal(i), d.Received(i), k.ideal, k.received)
				}
			}
		}
	})
}

// slowLevel finds by bisection the level at which the function "sum" reaches the rate.
func slowLevel(rate float64, sum func(level float64) float64) float64 {
	low, high := 0.0, 1e6
	if sum(high) <= rate {
		return high
	}
	for range 200 {
		mid := (low + high) / 2
		if sum(mid) < rate {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// TestDriftsAlike checks that children with the same drift keep their order by Still while time passes, and that Still
// plus the drift is the deficit.
func TestDriftsAlike(t *testing.T) {
	d := NewDeficits(0)
	d.SetRate(10)
	for i := range 4 {
		d.Set(i, 1, 0, 100)
	}
	d.Set(4, 1, 0, 1)
	d.Run(0, 8)
	d.Advance(5)
	d.Run(1, 2)
	d.Advance(9)
	if d.Drift(0) != d.Drift(3) || d.Drift(4) == d.Drift(0) {
		t.Fatalf("drifts %v %v %v", d.Drift(0), d.Drift(3), d.Drift(4))
	}
	for i := 1; i < 4; i++ {
		by := (d.Received(0) - d.Ideal(0)) - (d.Received(i) - d.Ideal(i))
		if still := d.Still(0) - d.Still(i); math.Abs(by-still) > 1e-9 {
			t.Errorf("child %d: apart %v, still %v", i, by, still)
		}
	}
}
