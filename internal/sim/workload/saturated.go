package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Saturated makes users who always have work. All jobs are submitted at once. Every user has Backlog times
// the work to which the user's weight gives a right in Span seconds on the machine. So no user runs out of
// work within Span, unless a policy gives it Backlog times its share.
type Saturated struct {
	Procs   int // of the machine
	Users   int
	Weights []float64 // of the users in turn, repeated from the first
	Sizes   []int     // processors of a job, likewise
	Lengths Lengths
	Mean    float64 // seconds of a job
	Span    int64   // seconds
	Backlog float64
	Seed    uint64
	Tick    Tick
}

// Lengths is the distribution of the lengths of jobs.
type Lengths string

const (
	Exponential Lengths = "exponential" // with the mean
	Constant    Lengths = "constant"    // all equal to the mean
	OneToTen    Lengths = "1:10"        // the mean for odd users, ten times the mean for even ones
)

// AllLengths lists the distributions of lengths, in the order in which they are shown.
var AllLengths = []Lengths{Exponential, Constant, OneToTen}

// Weight returns the weight of a user, from 1.
func (s Saturated) Weight(user int) float64 { return s.Weights[(user-1)%len(s.Weights)] }

// Make returns the jobs in the order of their numbers. Each user's jobs are spread evenly over all numbers,
// so that first come, first served is not unfair just because of the numbers.
func (s Saturated) Make() ([]Job, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	type placed struct {
		Job
		done float64 // the part of its user's work that comes before this job
	}
	var total float64
	for u := 1; u <= s.Users; u++ {
		total += s.Weight(u)
	}
	var all []placed
	for u := 1; u <= s.Users; u++ {
		rng := stream(s.Seed, streamLengths+uint64(u)<<8)
		want := s.Backlog * s.Weight(u) / total * float64(s.Procs) * float64(s.Span)
		size := s.Sizes[(u-1)%len(s.Sizes)]
		for area := 0.0; area < want; {
			run := s.length(u, rng)
			all = append(all, placed{Job{Run: run, Estimate: run, Procs: size, User: u}, area / want})
			area += float64(run) * float64(size)
			if err := s.Tick.at(len(all)); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.done, b.done) })
	jobs := make([]Job, len(all))
	for i, p := range all {
		jobs[i] = p.Job
	}
	return jobs, nil
}

func (s Saturated) length(user int, rng *rand.Rand) int64 {
	seconds := s.Mean
	switch {
	case s.Lengths == Exponential:
		seconds *= rng.ExpFloat64()
	case s.Lengths == OneToTen && user%2 == 0:
		seconds *= 10
	}
	return max(int64(math.Round(seconds)), 1)
}

func (s Saturated) check() error {
	switch {
	case s.Procs < 1:
		return fmt.Errorf("the machine must have at least 1 processor, got %d", s.Procs)
	case s.Users < 1:
		return fmt.Errorf("there must be at least 1 user, got %d", s.Users)
	case len(s.Weights) == 0 || slices.ContainsFunc(s.Weights,
		func(w float64) bool { return !(w > 0) || math.IsInf(w, 0) }):
		return fmt.Errorf("weights must be above 0, got %v", s.Weights)
	case len(s.Sizes) == 0 || slices.Min(s.Sizes) < 1 || slices.Max(s.Sizes) > s.Procs:
		return fmt.Errorf("sizes must be from 1 to the %d processors of the machine, got %v", s.Procs, s.Sizes)
	case !slices.Contains(AllLengths, s.Lengths):
		return fmt.Errorf("lengths: %q is none of these: %s", s.Lengths, list(AllLengths))
	case !(s.Mean >= 1 && s.Mean <= 1e8):
		return fmt.Errorf("the mean length must be from 1 to 100000000 seconds, got %v s", s.Mean)
	case s.Span < 1:
		return fmt.Errorf("the time to fill must be at least 1 second, got %d s", s.Span)
	case !(s.Backlog >= 1 && s.Backlog <= 1e6):
		return fmt.Errorf("the backlog must be at least 1, got %v", s.Backlog)
	}
	smallest := s.Mean * float64(slices.Min(s.Sizes))
	if n := s.Backlog * float64(s.Procs) * float64(s.Span) / smallest; n > maxJobs {
		return fmt.Errorf("that would be up to %.0f jobs, more than %d; take longer jobs, a shorter time or fewer processors",
			n, maxJobs)
	}
	return nil
}
