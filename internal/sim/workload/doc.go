// Package workload makes the work of simulations up, from a seed: [Lublin] by the model of
// rigid jobs that Lublin and Feitelson fitted to the logs of real machines, [Saturated] for
// users who always have work, which is what measurements of fairness want. The same
// options make the same jobs. How jobs are written to a file, and what
// becomes of them, is left to others.
package workload

import "math/rand/v2"

// Job is one job of a workload. Times are whole seconds, submissions since the first
// midnight.
type Job struct {
	Submit      int64
	Run         int64 // how long it will take, at least 1
	Estimate    int64 // how long its user says, never less than it takes
	Procs       int
	User        int // from 1
	Interactive bool
}

// maxJobs is how many jobs a workload may have, as all are held in memory.
const maxJobs = 20_000_000

// Each part of a workload draws from a stream of its own, so that another choice of one
// part leaves the others as they are: with other users, the jobs are the same jobs.
const (
	streamBatch = iota + 1
	streamInteractive
	streamUsers
	streamEstimates
	streamLengths
)

func stream(seed uint64, part uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, part)) }

// Tick is told now and then how many jobs there are. An error ends the making.
type Tick func(jobs int) error

func (t Tick) at(jobs int) error {
	if t == nil || jobs%10_000 != 0 {
		return nil
	}
	return t(jobs)
}

// Area is the sum of processors times seconds.
func Area(jobs []Job) float64 {
	var sum float64
	for _, j := range jobs {
		sum += float64(j.Procs) * float64(j.Run)
	}
	return sum
}
