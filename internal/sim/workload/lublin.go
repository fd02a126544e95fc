package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Lublin makes jobs by the model of U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers:
// modeling the characteristics of rigid jobs", Journal of Parallel and Distributed Computing 63(11), 2003,
// with the parameters that they published.
//
//   - Size: serial with one probability, a power of two with another, else any size. The
//     logarithm (base 2) of a parallel size is uniform in one of two ranges.
//   - Run time: its natural logarithm has one of two gamma distributions, short or long.
//     Large jobs are long more often: p = pa·size + pb is the probability of short.
//   - Arrival: the natural logarithm of the time to the next job in the busy hours has a
//     gamma distribution; another gamma distribution gives the shares of the hours of the day.
//   - Batch and interactive jobs arrive independently, each with parameters of their own.
//
// The sizes were fitted to machines of 128 processors. On a machine of another size, the upper ends of both
// ranges keep their distance from the logarithm of its size, as the authors advise.
type Lublin struct {
	Procs     int // of the machine, at least 1
	Jobs      int
	Seed      uint64
	Types     Types
	Load      float64 // Area / (Procs x last submission); 0 keeps the load of the model
	Users     int     // at least 1
	Zipf      float64 // the exponent of Zipf's law: 0 makes all users equal
	Estimates Estimates
	Tick      Tick
}

// Types selects the jobs that the model makes.
type Types string

const (
	Both        Types = "both"        // batch and interactive jobs, each with their parameters
	Batch       Types = "batch"       // batch jobs only
	Interactive Types = "interactive" // interactive jobs only
	Whole       Types = "whole"       // one kind, with the parameters of all jobs together
)

// AllTypes lists the types, in the order in which they are shown.
var AllTypes = []Types{Both, Batch, Interactive, Whole}

// kind holds the parameters of one kind of jobs.
type kind struct {
	serial, pow2  float64 // probabilities
	low           float64 // log2 of the smallest parallel job
	med, hi       float64 // log2 of the ends of the two ranges, minus log2 of the machine
	first         float64 // the probability of the first range
	short, long   gamma   // ln of the run time
	pa, pb        float64
	gap           gamma // ln of the time between jobs in the busy hours
	rush          float64
	cycle         gamma // over half hours of the day
	isInteractive bool
}

var batchKind = kind{
	serial: 0.2927, pow2: 0.6686, low: 1.2, med: -2, hi: 0, first: 0.875,
	short: gamma{6.57, 0.823}, long: gamma{639.1, 0.0156}, pa: -0.003, pb: 0.6986,
	gap: gamma{6.0415, 0.8531}, rush: 1.0519, cycle: gamma{6.1271, 5.2740},
}

var interactiveKind = kind{
	serial: 0.1541, pow2: 0.625, low: 1, med: -4, hi: -1.5, first: 0.705,
	short: gamma{3.8351, 0.6605}, long: gamma{7.073, 0.6856}, pa: -0.0118, pb: 0.9156,
	gap: gamma{6.5510, 0.6621}, rush: 0.9797, cycle: gamma{8.9186, 3.6680},
	isInteractive: true,
}

var wholeKind = kind{
	serial: 0.244, pow2: 0.576, low: 0.8, med: -2.5, hi: 0, first: 0.86,
	short: gamma{4.2, 0.94}, long: gamma{312, 0.03}, pa: -0.0054, pb: 0.78,
	gap: gamma{10.2303, 0.4871}, rush: 1.0225, cycle: gamma{8.1737, 3.9631},
}

// The model draws again above these values: a run time of two days, a gap of five days.
const (
	longestRun = 12 // ln of seconds
	longestGap = 13
)

// longestTrace bounds the seconds that a workload may last: package swf reads no later instants.
const longestTrace = 4e9

// Make returns the jobs in the order of submission.
func (l Lublin) Make() ([]Job, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	var sources []*source
	if l.Types == Both || l.Types == Batch {
		sources = append(sources, newSource(batchKind, l.Procs, stream(l.Seed, streamBatch)))
	}
	if l.Types == Both || l.Types == Interactive {
		sources = append(sources, newSource(interactiveKind, l.Procs, stream(l.Seed, streamInteractive)))
	}
	if l.Types == Whole {
		sources = append(sources, newSource(wholeKind, l.Procs, stream(l.Seed, streamBatch)))
	}
	jobs := make([]Job, 0, l.Jobs)
	from := make([]*source, 0, l.Jobs)
	even := make([]float64, 0, l.Jobs)
	for range l.Jobs {
		s := slices.MinFunc(sources, func(a, b *source) int { return cmp.Compare(a.at, b.at) })
		jobs, from, even = append(jobs, s.job()), append(from, s), append(even, s.even)
		s.next()
		if err := l.Tick.at(len(jobs)); err != nil {
			return nil, err
		}
	}
	l.arrive(jobs, from, even)
	if n := len(jobs); n > 0 && jobs[n-1].Submit > longestTrace {
		return nil, fmt.Errorf("at a load of %v the jobs would be submitted over more than a century; take a higher load or fewer jobs", l.Load)
	}
	l.assign(jobs)
	return jobs, nil
}

func (l Lublin) check() error {
	switch {
	case l.Procs < 1:
		return fmt.Errorf("the machine must have at least 1 processor, got %d", l.Procs)
	case l.Jobs < 0 || l.Jobs > maxJobs:
		return fmt.Errorf("the number of jobs must be from 0 to %d, got %d", maxJobs, l.Jobs)
	case !slices.Contains(AllTypes, l.Types):
		return fmt.Errorf("types: %q is none of these: %s", l.Types, list(AllTypes))
	case l.Load < 0 || l.Load > 100 || math.IsNaN(l.Load):
		return fmt.Errorf(
			"load: must be 0 (the load of the model) or more, such as 0.7; got %v", l.Load)
	case l.Users < 1:
		return fmt.Errorf("there must be at least 1 user, got %d", l.Users)
	case l.Zipf < 0 || l.Zipf > 10 || math.IsNaN(l.Zipf):
		return fmt.Errorf("the exponent of the users must be from 0 (all alike) to 10, got %v", l.Zipf)
	}
	return l.Estimates.check()
}

// arrive sets the submissions of the jobs, with all gaps stretched by one factor if a load is given. It
// stretches the even streams and not the clock, so that the rhythm of the day stays.
func (l Lublin) arrive(jobs []Job, from []*source, even []float64) {
	factor := 1.0
	if l.Load > 0 {
		factor = l.stretch(Area(jobs), from, even)
	}
	for i := range jobs {
		jobs[i].Submit = int64(from[i].day.clock(even[i] * factor))
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
}

// stretch searches the factor that gives the requested load. Each submission grows with the factor, so
// bisection finds it.
func (l Lublin) stretch(area float64, from []*source, even []float64) float64 {
	end := area / (float64(l.Procs) * l.Load)
	last := func(factor float64) (at float64) {
		seen := map[*source]bool{}
		for i := len(from) - 1; i >= 0 && len(seen) < 2; i-- {
			if !seen[from[i]] { // the last job of its source
				seen[from[i]] = true
				at = max(at, from[i].day.clock(even[i]*factor))
			}
		}
		return at
	}
	low, high := 0.0, 1.0
	for last(high) < end && high < 1e12 {
		high *= 2
	}
	for range 100 {
		if mid := (low + high) / 2; last(mid) < end {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// assign sets the users and the estimates of the jobs.
func (l Lublin) assign(jobs []Job) {
	users := newUsers(l.Users, l.Zipf)
	pick, say := stream(l.Seed, streamUsers), stream(l.Seed, streamEstimates)
	for i := range jobs {
		jobs[i].User = users.draw(pick)
		jobs[i].Estimate = l.Estimates.of(jobs[i].Run, say)
	}
}

// source is an endless stream of jobs of one kind.
type source struct {
	kind
	day  *day
	rng  *rand.Rand
	size int     // of the machine
	even float64 // the position of its next job in the even stream
	at   float64 // the same position by the clock
}

func newSource(k kind, procs int, rng *rand.Rand) *source {
	s := &source{kind: k, day: newDay(k.cycle), rng: rng, size: procs}
	s.gap.alpha *= k.rush
	s.next()
	return s
}

func (s *source) next() {
	s.even += math.Exp(s.gap.drawUpTo(s.rng, longestGap))
	s.at = s.day.clock(s.even)
}

func (s *source) job() Job {
	n := s.procs()
	return Job{Procs: n, Run: s.run(n), Interactive: s.isInteractive}
}

// procs draws a size.
func (s *source) procs() int {
	u := s.rng.Float64()
	if u <= s.serial || s.size < 2 {
		return 1
	}
	machine := math.Log2(float64(s.size))
	hi := max(machine+s.hi, 1)
	low := min(s.low, hi)
	med := max(machine+s.med, low+(hi-low)/3) // on small machines the ranges would cross
	from, to := low, med
	if s.rng.Float64() > s.first {
		from, to = med, hi
	}
	log := from + (to-from)*s.rng.Float64()
	if u <= s.serial+s.pow2 {
		log = min(math.Round(log), math.Floor(machine))
	}
	return min(max(int(math.Round(math.Exp2(log))), 1), s.size)
}

// run draws the run time of a job of n processors.
func (s *source) run(n int) int64 {
	g := s.long
	if s.rng.Float64() <= s.pa*float64(n)+s.pb {
		g = s.short
	}
	return max(int64(math.Exp(g.drawUpTo(s.rng, longestRun))), 1)
}
