package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// users draws users by Zipf's law: the k-th user submits in proportion to 1/k^s. In the logs of real
// machines, too, a few users submit most of the jobs.
type users struct{ upTo []float64 }

func newUsers(n int, exponent float64) *users {
	u := &users{make([]float64, n)}
	sum := 0.0
	for k := range u.upTo {
		sum += math.Pow(float64(k+1), -exponent)
		u.upTo[k] = sum
	}
	return u
}

func (u *users) draw(rng *rand.Rand) int {
	x := rng.Float64() * u.upTo[len(u.upTo)-1]
	i, _ := slices.BinarySearch(u.upTo, x)
	return min(i, len(u.upTo)-1) + 1
}

// Estimates says how users estimate run times.
type Estimates struct {
	Exact  bool    // estimates equal run times
	Factor float64 // estimates are this multiple of run times; 0: estimates as people make them
}

// ParseEstimates reads users, exact, or a factor.
func ParseEstimates(text string) (Estimates, error) {
	switch text {
	case "users":
		return Estimates{}, nil
	case "exact":
		return Estimates{Exact: true}, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 1) {
		return Estimates{}, fmt.Errorf("expected users, exact, or a factor of at least 1, such as 2; got %q", text)
	}
	return Estimates{Factor: f}, nil
}

func (e Estimates) check() error {
	if e.Factor != 0 && !(e.Factor >= 1 && e.Factor <= 1e6) {
		return fmt.Errorf("the factor of the estimates must be from 1 to 1000000, got %v", e.Factor)
	}
	return nil
}

// round holds the estimates that people give, in minutes. A.W. Mu'alem and D.G. Feitelson (2001) and D.
// Tsafrir and others (2005) found that twenty round values make up nine tenths of all estimates, and that
// jobs use a fraction of their estimate that is about uniform between 0 and 1.
var round = []int64{1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 2 * 60, 3 * 60, 4 * 60, 5 * 60, 6 * 60, 8 * 60, 10 * 60,
	12 * 60, 15 * 60, 18 * 60, 24 * 60, 36 * 60, 48 * 60}

// of returns the estimate for a run time. Estimates as people make them follow from a used fraction that is
// uniform between 0 and 1. They are rounded up to the next round value, at most two days, which is also the
// longest run time of the model.
func (e Estimates) of(run int64, rng *rand.Rand) int64 {
	switch {
	case e.Exact:
		return run
	case e.Factor > 0:
		return int64(math.Ceil(float64(run) * e.Factor))
	}
	want := float64(run) / (1 - rng.Float64())
	for _, minutes := range round {
		if float64(minutes*60) >= want {
			return minutes * 60
		}
	}
	return max(round[len(round)-1]*60, run)
}

// list joins values for a message.
func list[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}
