package policy

import (
	"math"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Fifo serves the jobs in and below a pool in order of priority, then of
// submission, whichever child they are in:
//
//	key = priority * 2^48 + job        smallest first
//
// priority counts from 0, the highest. What policies below say about the children of
// a child then only matters between jobs of that child's own choice: fifo takes the
// child that holds the first job.
//
// Example: job 7 of ann and job 9 of bob wait, both of priority normal (2): ann, 2^49+7
// against 2^49+9. Bob's job 9 is raised to high (1): bob.
type Fifo struct{}

var fifo = why.NewFormula("fifo", "priority * 281474976710656 + job", "smallest first",
	why.Term{Name: "priority", Doc: "of its first waiting job; 0 is the highest"},
	why.Term{Name: "job", Doc: "number of its first waiting job, in order of submission"},
)

// Formula implements sched.Policy.
func (Fifo) Formula() *why.Formula { return fifo }

// Terms implements sched.Keyed.
func (Fifo) Terms(p *sched.Pool, _ sched.Setting) why.Terms {
	t := why.Terms{Formula: fifo, Key: p.First}
	if math.IsInf(p.First, 1) { // nothing waits
		t.Values[0] = p.First
		return t
	}
	priority, job := sched.Cut(p.First)
	t.Values[0], t.Values[1] = float64(priority), float64(job)
	return t
}

// ByArrival makes the scheduler keep Pool.First up to date.
func (Fifo) ByArrival() {}

var _ sched.Keyed = Fifo{}
