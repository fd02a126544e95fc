package replay

import (
	"iter"
	"math"
	"slices"

	"github.com/fairlead/fairlead/why"
)

// replay derives the order of starts from evidence. It is a plain version of package sched that examines
// every child at every choice.
type replay struct {
	*why.Evidence
	pools []pool
	gang  started
	close bool // rounding may have decided one of the choices
}

// open reports whether something in the pool may start.
func (r *replay) open(i int) bool {
	p := r.pools[i]
	if p.TasksLeft == 0 || p.UnitsLeft == 0 {
		return false
	}
	if len(p.kids) == 0 {
		return slices.ContainsFunc(p.jobs, func(j job) bool { return j.startable() })
	}
	for _, k := range p.kids {
		if r.open(k) {
			return true
		}
	}
	return false
}

// started is the last choice, with the number of its tasks that have not started yet.
type started struct {
	way  []int // from the root to the leaf
	job  *job
	left int64
}

// pool is a copy of a pool, which the replay changes.
type pool struct {
	*why.PoolEvidence
	up   int // index of the parent; -1 for the root
	kids []int
	jobs []job // of a leaf
	rule Rule  // that divides it among its children
	eval func([]float64) float64
}

// job is a copy of a job, which the replay changes.
type job struct {
	*why.JobEvidence
	parked bool // its sub-queue is skipped, because something kept the job from starting
}

// serves reports whether a leaf serves the job j before the job "best".
func (p *pool) serves(j, best *job) bool {
	switch {
	case p.Strict:
	case j.Running != best.Running:
		return j.Running < best.Running
	case j.Turn != best.Turn:
		return j.Turn < best.Turn
	}
	return j.ID < best.ID
}

// hold adds the request of a task to the resources that the pool holds.
func (p *pool) hold(request []int64) {
	for len(p.Holds) < len(request) {
		p.Holds = append(p.Holds, 0)
	}
	for i, n := range request {
		p.Holds[i] += n
	}
}

func less(left, n int64) int64 {
	if left < 0 {
		return left
	}
	return max(0, left-n)
}

func (j *job) startable() bool {
	return !j.parked && j.Waiting > 0 && (j.Max == 0 || j.Running < j.Max)
}

// Rule is the part of a policy that recomputes the numbers that the policy compares. It is in the file of the
// policy, but must not share code with the decision. It may use only the [Choice], and nothing from the
// packages that decide; a test in internal/tidy checks that. So a mistake in the decision cannot repeat
// itself here, and the printed numbers have to suffice.
type Rule interface {
	// Formula names the terms.
	Formula() *why.Formula
	// Recompute returns the numbers of the choice's child that are compared.
	Recompute(c *Choice) Standing
}

// Standing holds the compared numbers of a child. The replay computes the key from Values, by the printed
// formula.
type Standing struct {
	Values [why.MaxTerms]float64 // in the order of the formula's terms
	Tie    float64               // compared when keys are equal, smallest first
	// Fixed is compared when ties are equal too, among children of the same Drift; see [why.Terms].
	Fixed float64
	Drift [2]float64
	// Rounded says that the policy stores the terms as large sums. Rounding then decides between almost equal
	// keys, so the replay cannot confirm their order.
	Rounded bool
}

// Choice is one child of a pool at one step of a replay, with the printed numbers of that step. A rule must
// not change them.
type Choice struct {
	*why.Evidence
	Above, Child *why.PoolEvidence

	r         *replay
	at, child int
}

// Service returns the service of a pool: settled + (rate x tau - started). A difference within rounding
// counts as 0.
func (c *Choice) Service(p *why.PoolEvidence) float64 { return c.r.service(p) }

// Key puts values into the printed formula of the pool.
func (c *Choice) Key(values [why.MaxTerms]float64) float64 {
	return c.r.pools[c.at].eval(values[:])
}

// Siblings lists all children of the pool, and whether each has work that may start.
func (c *Choice) Siblings() iter.Seq2[*why.PoolEvidence, bool] {
	return func(yield func(*why.PoolEvidence, bool) bool) {
		for _, k := range c.r.pools[c.at].kids {
			if !yield(c.r.pools[k].PoolEvidence, c.r.open(k)) {
				return
			}
		}
	}
}

// Jobs lists the jobs in and below the child whose tasks may start, apart from limits of pools. If the flag "open" is
// set, it omits pools whose limits let nothing start.
func (c *Choice) Jobs(open bool) iter.Seq[*why.JobEvidence] {
	return func(yield func(*why.JobEvidence) bool) { c.r.eachJob(c.child, open, yield) }
}

// eachJob calls yield for each startable job in and below a pool, until yield returns false.
func (r *replay) eachJob(i int, open bool, yield func(*why.JobEvidence) bool) bool {
	for k := range r.pools[i].jobs {
		if j := &r.pools[i].jobs[k]; j.startable() && !yield(j.JobEvidence) {
			return false
		}
	}
	for _, k := range r.pools[i].kids {
		if (!open || r.open(k)) && !r.eachJob(k, open, yield) {
			return false
		}
	}
	return true
}

// service computes the result of [Choice.Service].
func (r *replay) service(p *why.PoolEvidence) float64 {
	running := float64(p.Rate*r.Tau) - p.Started
	if math.Abs(running) <= 1e-14*p.Started {
		running = 0
	}
	return p.Settled + running
}
