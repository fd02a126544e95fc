package sched

import (
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// linePriority is what the jobs of one line have in common of their priority.
type linePriority struct {
	size, qos, tres, site, nice float64
	sum                         float64 // of them all
}

type linePriorityKey struct {
	key   cluster.Key
	class Class
}

// ranking is what the scheduler keeps besides where some pool has a [Ranker].
//
// All jobs below the maximum age grow older alike, so that their order never changes;
// and so it is with those above it, whose age counts no further. Each pool therefore
// stands in two orders of its parent, by its first job of either sort, in which nothing
// moves as time passes, and a choice compares the first of both. What does happen with
// time is that a job passes the maximum age: fills says in which leaf this is next.
type ranking struct {
	ages
	now        float64        // the clock of ages at the last event
	capacity   cluster.Vector // on which the precedence were computed
	precedence map[linePriorityKey]*linePriority
	of         []worth // by pool
	fills      order   // leaves by when their next job passes the maximum age
}

// worth is what a pool is worth to the jobs in it, and its first jobs.
type worth struct {
	weighed  float64 // the sum of the weights of its children that counted
	relative float64 // its part among its siblings; below 0: not computed yet
	share    float64 // its part of the pool in which the jobs are compared
	usage    float64 // what it used of that, as far as it is held against it

	fairshare, pool, assoc float64 // terms

	rising place // of the first job below the maximum age; what orders it is key + clock
	full   place // of the first job above it
}

// place is where a job goes in an order: smallest first.
type place struct{ key, job float64 }

func (p place) before(q place) bool {
	if p.key != q.key {
		return p.key < q.key
	}
	return p.job < q.job
}

var nowhere = place{math.Inf(1), math.Inf(1)}

// part is a fraction from 0 to 1.
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

// next is the place of the first job of both sorts, by its key at this instant.
func (r *ranking) next(st *worth) place {
	rising := place{st.rising.key - r.now, st.rising.job}
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
	f.precedence = make(map[linePriorityKey]*linePriority, len(r.precedence)) // they are the same when they are made again
	for k, m := range r.precedence {
		f.precedence[k] = m
	}
	return &f
}

// ages is the clock of the age of jobs, in points of priority. All terms of a priority
// are multiples of one step, a power of two, so that they add up exactly, in whatever
// order; the age of a job is the clock now less the clock at its submission, so that the
// order of two jobs that age never changes by rounding.
type ages struct {
	rate float64 // points a second
	full float64 // points of a job of the maximum age
	unit float64 // steps in a point
}

// agesFrom is an instant near which programs run, from which the clock counts: the
// nearer, the finer the steps can be.
var agesFrom = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// farthestAge bounds, in seconds, how far from agesFrom an instant is told apart.
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

// exact rounds a term to a step.
func (a *ages) exact(points float64) float64 {
	return math.Round(min(max(points, -maxTerm), maxTerm)*a.unit) / a.unit
}

// since is an instant as a distance from agesFrom.
func since(t time.Time) time.Duration {
	return t.Sub(agesFrom)
}

// at is the clock at an instant.
func (a *ages) at(d time.Duration) float64 {
	s := min(max(d.Seconds(), -farthestAge), farthestAge)
	return math.Round(a.rate*s*a.unit) / a.unit
}

// Factors are what of a job counts for its priority, beside its request and its age.
type Factors struct {
	QOS     string  // a quality of service, by its name
	Nice    int     // what it gives up: subtracted from its priority
	Site    float64 // what a rule of the site gives it
	Minutes float64 // its time limit, where sizes count in relation to it; 0 is none
}

// Class numbers factors, as a key numbers a request; 0 has none.
type Class int32
