package policy

import (
	"math"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// fifoPolicy serves the jobs in and below a pool by priority, then by submission, regardless of the child that holds
// them:
//
//	key = priority * 2^48 + job        smallest first
//
// priority counts from 0, the highest. fifo chooses the child that holds the first job. The policies of the pools
// below therefore only order jobs within one child.
//
// Example: job 7 of ann and job 9 of bob wait, both of priority normal (2): ann goes first, 2^49+7 against 2^49+9. If
// bob's job 9 is raised to high (1), bob goes first.
type fifoPolicy struct{}

var fifo = termByTerm(why.NewFormula("fifo", "priority * 281474976710656 + job", "smallest first",
	why.Term{Name: "priority", Doc: "of its first waiting job; 0 is the highest"},
	why.Term{Name: "job", Doc: "number of its first waiting job, in order of submission"},
).Phrased("", "job {job}, priority {priority}"))

func termByTerm(f *why.Formula) *why.Formula {
	f.TermByTerm = true
	return f
}

// Formula implements sched.Policy.
func (fifoPolicy) Formula() *why.Formula { return fifo }

// Terms implements sched.Keyed.
func (fifoPolicy) Terms(p *sched.Pool, _ sched.Setting) why.Terms {
	t := why.Terms{Formula: fifo, Key: p.First}
	if math.IsInf(p.First, 1) { // nothing waits
		t.Values[0] = p.First
		return t
	}
	priority, job := sched.Cut(p.First)
	t.Values[0], t.Values[1] = float64(priority), float64(job)
	return t
}

// ByArrival tells the scheduler to keep Pool.First up to date.
func (fifoPolicy) ByArrival() {}

// Recompute implements replay.Rule: it takes the first of the jobs that may start.
func (fifoPolicy) Recompute(c *replay.Choice) replay.Standing {
	first := replay.Standing{Values: [why.MaxTerms]float64{math.Inf(1)}}
	for j := range c.Jobs(true) {
		priority, id := float64(j.Priority), float64(j.ID)
		if v := first.Values; priority < v[0] || priority == v[0] && id < v[1] {
			first.Values[0], first.Values[1] = priority, id
		}
	}
	return first
}

var (
	_ sched.Keyed = fifoPolicy{}
	_ replay.Rule = fifoPolicy{}
)
