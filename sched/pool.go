package sched

import (
	"math"

	"github.com/fairlead/fairlead/usage"
)

// PoolID is the number of a pool in one scheduler; 0 is the root.
type PoolID int32

// Root is the pool above all others.
const Root PoolID = 0

// Pool is the state of one node of the tree, as policies see it. Policies only read it, except that Carry may write
// Own.
//
// The fields that every decision touches come first, in three cache lines.
type Pool struct {
	usage.Account         // of all tasks in and below the pool
	Weight        float64 // among its siblings
	Flight        float64 // expected service of the running tasks: width x mean length in their leaf
	expectation           // Flight follows from it
	Own           [2]float64
	Waiting       int64 // tasks in and below the pool that could start if there were room
	Tasks         int32 // running tasks

	parent, inner, queue, limit int32 // -1: none
	seat                        seat
	priority                    int8 // priority of the jobs of a leaf; -1: not known yet
	counted                     bool // for shares: configured, or has work
	configured                  bool // the configuration names it
	isNew                       bool // holds jobs that count as new, see [NewJobs]
	classed                     bool // its children are the priority classes of a leaf pool

	// Few policies read these fields; they are kept apart from the fields that every start and end of a task
	// touches.
	First  float64 // arrival of the first waiting job, see [arrival]; kept for policies with ByArrival only
	Wanted float64 // units of waiting tasks that could start, see queue.bar; up to date if a policy allots
	Target float64 // units that it is entitled to, under an [Allotter]
	over   float64 // units above Target
	Days   int32   // the number of its service by days in [Setting.Days], under a [Daily] policy; 0: none
}

// expectation holds the sums for the Flight of a pool, see tree.expect.
type expectation struct {
	tasks int32   // running tasks of the pool itself
	price float64 // their charge per second, once they have begun
	own   float64 // price x mean, as included in all
	all   sum     // over the pool and the pools below it: Pool.Flight
}

// gate is the reason why a sub-queue is parked. From byMax on, it is the number of a [gateKind].
type gate uint8

const (
	noGate    gate = iota
	byFit          // the request fits on no node now
	byMax          // a pool above is at its maximum for this request
	byWindow       // the requested window is not open
	byLicense      // too few of a license are free
	byRate         // the starts of a rate are used up
	byPause        // a pool above is paused
	byUser         // the user has as many running tasks as one user may
	byAway         // in a preview: the nodes that could run it take no tasks
)

// hopes reports whether jobs behind the gate may start as soon as other tasks end, so that they count as demand.
func (g gate) hopes() bool { return g <= byMax }

type subRef struct{ queue, sub int32 }

// seat is the place of a pool among its siblings.
type seat struct {
	kid      int32 // position among the parent's children
	drift    int32 // index of its order in the parent's keys
	tie      float64
	dominant int8 // resource in which it is compared, see dominants
	in       bool // is in its parent's orders: it has work that may start
	belowMin bool // it, or a pool in it, is below its minimum
	kept     gate // gate that held it back before it rejoined at its old place, see [gates.returning]
}

// Divides reports whether the pool has child pools, not counting priority classes of a leaf pool.
func (p *Pool) Divides() bool { return p.inner >= 0 && !p.classed }

func (p *Pool) counts() bool { return p.configured || p.Waiting > 0 || p.Tasks > 0 }

// sum adds the running tasks and the past of a child to a pool that is inserted between it and its parent.
func (p *Pool) sum(child *Pool) {
	p.Settled += child.Settled
	p.Running += child.Running
	p.Rate += child.Rate
	p.Started += child.Started
	p.expectation.all.add(child.Flight)
	p.Flight = p.expectation.all.value()
	p.Tasks += child.Tasks
}

// arrival orders jobs by priority, highest (0) first, then by id. The number is
// exact as a float64 for fewer than 32 priorities and ids below 2^48.
func arrival(priority int8, job int64) float64 {
	return float64(priority)*arrivalsPerPriority + float64(job)
}

const arrivalsPerPriority = 1 << 48

// Cut splits an arrival into priority and job.
func Cut(arrival float64) (priority int, job int64) {
	p := math.Floor(arrival / arrivalsPerPriority)
	return int(p), int64(arrival - p*arrivalsPerPriority)
}

// kind distinguishes pools that the tree names from priority classes in a leaf pool.
type kind uint8

const (
	named         kind = iota
	priorityClass      // the jobs of one priority, if a leaf pool has several
)

type childKey struct {
	parent int32
	name   string
	kind   kind
}
