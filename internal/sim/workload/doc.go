// Package workload generates the work of simulations from a seed. [Lublin] uses the model of rigid jobs that
// Lublin and Feitelson fitted to the logs of real machines. [Saturated] makes users who always have work,
// because measurements of fairness need such users. The same options make the same jobs. Callers write the
// jobs to files and run them.
package workload

import "math/rand/v2"

// Job is one job of a workload. Times are whole seconds, submissions since the first
// midnight.
type Job struct {
	Submit      int64
	Run         int64 // the run time, at least 1
	Estimate    int64 // the user's estimate of Run, never below it
	Procs       int
	User        int // from 1
	Interactive bool
}

// maxJobs bounds the jobs of a workload, because all are held in memory.
const maxJobs = 20_000_000

// Each part of a workload draws from a stream of its own, so that a change of one part leaves the others
// unchanged. For example, with other users the jobs stay the same.
const (
	streamBatch = iota + 1
	streamInteractive
	streamUsers
	streamEstimates
	streamLengths
)

func stream(seed uint64, part uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, part)) }

// Tick is called every 10,000 jobs with the number of jobs so far. An error stops the generation.
type Tick func(jobs int) error

func (t Tick) at(jobs int) error {
	if t == nil || jobs%10_000 != 0 {
		return nil
	}
	return t(jobs)
}

// Area returns the sum of processors times seconds.
func Area(jobs []Job) float64 {
	var sum float64
	for _, j := range jobs {
		sum += float64(j.Procs) * float64(j.Run)
	}
	return sum
}
