package share

import (
	"math"
	"testing"
)

func TestWithoutWeight(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		capacity float64
		claims   []Claim
		want     []float64
	}{
		{10, []Claim{{1, 0, inf, 4}, {0, 0, inf, 9}, {0, 0, inf, 1}}, []float64{4, 5, 1}},
		{10, []Claim{{1, 0, inf, 40}, {0, 0, inf, 9}}, []float64{10, 0}},
		{10, []Claim{{1, 0, inf, 40}, {0, 2, inf, 9}}, []float64{8, 2}},
		{10, []Claim{{0, 0, inf, 40}, {0, 0, inf, 40}}, []float64{5, 5}},
		{10, []Claim{{0, 0, 3, 40}, {2, 0, 3, 40}, {0, 0, inf, 40}}, []float64{3, 3, 4}},
	} {
		got := Divide(c.capacity, c.claims)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("Divide(%v, %v) = %v, want %v", c.capacity, c.claims, got, c.want)
				break
			}
		}
	}
}
