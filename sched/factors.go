package sched

import (
	"math"
	"time"
)

// Multifactor says how the policy multifactor weighs what speaks for a job. Each weight
// is the most that its factor, which is from 0 to 1, adds to a priority.
type Multifactor struct {
	Age, Fairshare, Size, Pool, QOS, Assoc, Site float64
	TRES                                         map[string]float64 // by resource

	MaxAge         time.Duration // from which on a job's age counts in full
	Small          bool          // small jobs are favoured instead of large ones
	RelativeToTime bool          // the size counts in relation to the time limit
	Recalculate    time.Duration // how often shares and usage are computed anew for all
	Levels         map[string]float64
}

// DefaultMultifactor is in force where nothing is configured.
func DefaultMultifactor() Multifactor {
	return Multifactor{
		Age: 1000, Fairshare: 10000, Size: 1000, Pool: 1000, QOS: 1000, Assoc: 1000, Site: 1,
		MaxAge: 7 * 24 * time.Hour, Recalculate: 5 * time.Minute,
	}
}

// MaxFactorWeight bounds a weight, and MaxNice what a job may be nice or not, so that
// priorities stay exact.
const (
	MaxFactorWeight = 1e7
	MaxNice         = 10000
	maxTerm         = 1e8
)

// ages is the clock by which jobs age, in points of priority. All terms of a priority
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

// Traits are what of a job counts for its priority, beside its request and its age.
type Traits struct {
	QOS     string  // a quality of service, by its name
	Nice    int     // what it gives up: subtracted from its priority
	Site    float64 // what a rule of the site gives it
	Minutes float64 // its time limit, where sizes count in relation to it; 0 is none
}

// Class numbers traits, as a shape numbers a request; 0 has none.
type Class int32

// Class numbers the traits.
func (s *Scheduler) Class(t Traits) Class {
	if t == (Traits{}) {
		return 0
	}
	c, ok := s.classOf[t]
	if !ok {
		c = Class(len(s.traits) + 1)
		s.traits = append(s.traits, t)
		s.classOf[t] = c
	}
	return c
}

// traitsOf are the traits behind a number.
func (s *Scheduler) traitsOf(c Class) Traits {
	if c == 0 {
		return Traits{}
	}
	return s.traits[c-1]
}
