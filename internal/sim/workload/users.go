package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// users draws users of whom the k-th submits in proportion to 1/k^s, as Zipf's law has it:
// in the logs of real machines, too, a few users submit most of the jobs.
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

// Estimates is how users estimate run times.
type Estimates struct {
	Exact  bool    // they know
	Factor float64 // they know the time, and say this many times as much; 0 is as people do
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
		return Estimates{}, fmt.Errorf("estimates are users, exact, or a factor of at least 1, such as 2; got %q", text)
	}
	return Estimates{Factor: f}, nil
}

func (e Estimates) check() error {
	if e.Factor != 0 && !(e.Factor >= 1 && e.Factor <= 1e6) {
		return fmt.Errorf("the factor of the estimates must be from 1 to 1000000, got %v", e.Factor)
	}
	return nil
}

// round are the values that people give, in minutes. A.W. Mu'alem and D.G. Feitelson
// (2001) and D. Tsafrir and others (2005) found that twenty round values are nine tenths
// of all estimates, and that the part of the estimate that jobs really use is spread about
// evenly from nothing to all of it.
var round = []int64{1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 2 * 60, 3 * 60, 4 * 60, 5 * 60, 6 * 60, 8 * 60, 10 * 60,
	12 * 60, 15 * 60, 18 * 60, 24 * 60, 36 * 60, 48 * 60}

// of is the estimate for a run time. As people do: the part that is used is even between 0
// and 1, the estimate the next round value, and two days at most, which is also the longest
// that the model lets jobs run.
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

// list names values for a message.
func list[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}
