package sched

import (
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// commonPriority has the priority terms common to the jobs of one sub-queue.
type commonPriority struct {
	size, qos, tres, site, nice float64
	sum                         float64 // of all
}

type commonPriorityKey struct {
	key   cluster.Key
	class Class
}

// ranking is the additional state of a scheduler with a [Ranker].
//
// All jobs below the maximum age gain points equally, so their order never changes. The order of the jobs above the
// maximum age does not change either, because their age counts no more. So each pool has a place in two orders of
// its parent, by its first job of each group. Nothing moves in them as time passes, and a choice compares the first
// entries of both. Only a job that passes the maximum age changes them: fills says in which leaf pool that happens
// next.
type ranking struct {
	ages
	now        float64        // the clock of ages at the last event
	capacity   cluster.Vector // used to compute precedence
	precedence map[commonPriorityKey]*commonPriority
	of         []worth // by pool
	fills      order   // leaf pools by the time when their next job passes the maximum age
}

// worth has the terms that a pool contributes to its jobs, and its first jobs.
type worth struct {
	weighed  float64 // sum of the weights of the children that counted
	relative float64 // its fraction among its siblings; below 0: not computed
	share    float64 // its fraction of the pool that compares the jobs
	usage    float64 // its fraction of the usage of that pool, as counted against it

	fairshare, pool, assoc float64 // terms

	rising place // of the first job below the maximum age; ordered by key + clock
	full   place // of the first job above the maximum age
}

// place sorts a child in an order, smallest first. Equal keys are sorted by tie: for a job, its number.
type place struct{ key, tie float64 }

func (p place) before(q place) bool {
	if p.key != q.key {
		return p.key < q.key
	}
	return p.tie < q.tie
}

var nowhere = place{math.Inf(1), math.Inf(1)}

// part is a fraction, from 0 to 1.
func part(n, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return math.Min(n/of, 1)
}

func (r *ranking) capacityOf(resource int) float64 {
	if resource < len(r.capacity) {
		return float64(r.capacity[resource])
	}
	return 0
}

// next is the place of the first job of both groups, with its key at this instant.
func (r *ranking) next(st *worth) place {
	rising := place{st.rising.key - r.now, st.rising.tie}
	if rising.before(st.full) {
		return rising
	}
	return st.full
}

func (r *ranking) grow(pools int) {
	for len(r.of) < pools {
		r.of = append(r.of, worth{relative: -1, rising: nowhere, full: nowhere})
	}
}

func (r *ranking) fork() *ranking {
	f := *r
	f.of = slices.Clone(r.of)
	f.fills.entries = slices.Clone(r.fills.entries)
	f.precedence = make(map[commonPriorityKey]*commonPriority, len(r.precedence)) // recomputing gives the same values
	for k, m := range r.precedence {
		f.precedence[k] = m
	}
	return &f
}

// ages converts the age of jobs to points of priority. All terms of a priority are multiples of one step, a power
// of two, so that they add up exactly in any order. The age of a job is the clock now minus the clock at its
// submission, so that rounding never changes the order of two aging jobs.
type ages struct {
	rate float64 // points per second
	full float64 // points of a job at the maximum age
	unit float64 // steps per point
}

// agesFrom is where the clock starts, an instant near the time when programs run: the nearer it is, the finer the
// steps can be.
var agesFrom = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// farthestAge is the largest distance from agesFrom, in seconds, at which instants are still distinguished.
const farthestAge = 1e9

func newAges(m *Multifactor) ages {
	a := ages{rate: m.Age / m.MaxAge.Seconds()}
	bits := 22
	for bits > -20 && math.Ldexp(a.rate*farthestAge, bits) > 1<<51 {
		bits--
	}
	a.unit = math.Ldexp(1, bits)
	a.full = a.exact(m.Age)
	return a
}

// exact rounds a term to a multiple of the step.
func (a *ages) exact(points float64) float64 {
	return math.Round(min(max(points, -maxTerm), maxTerm)*a.unit) / a.unit
}

// since is the distance of an instant from agesFrom.
func since(t time.Time) time.Duration {
	return t.Sub(agesFrom)
}

// at is the clock at an instant, given as a distance from agesFrom.
func (a *ages) at(d time.Duration) float64 {
	s := min(max(d.Seconds(), -farthestAge), farthestAge)
	return math.Round(a.rate*s*a.unit) / a.unit
}

// Factors are the properties of a job that count for its priority, beside its request and its age.
type Factors struct {
	QOS     string  // name of a quality of service
	Nice    int     // subtracted from its priority
	Site    float64 // value from a rule of the site
	Minutes float64 // time limit, if sizes are relative to it; 0 is none
}

// Class is the number of some factors, as a key is the number of a request; 0 stands for none.
type Class int32
