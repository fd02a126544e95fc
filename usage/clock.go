// Package usage says who consumed what: service received, decayed by a half-life,
// mean task lengths, and the lag behind an ideal fluid scheduler. Entitlements are
// package share's, decisions package sched's.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package usage

import (
	"math"
	"time"
)

// Clock turns instants into the units in which service is added up.
//
// Service decays by half every half-life h. Instead of shrinking all sums as time
// passes, service is weighted when it is received, by g(t) = 2^((t-ref)/h), and the
// sums stay as they are ("forward decay", Cormode et al., ICDE 2009). All sums then
// carry the same factor, so they can be compared, and adding commutes. Dividing by
// g(now) gives the decayed amount as of now.
type Clock struct {
	ref  time.Time
	half float64 // seconds; 0 is no decay
}

// NewClock returns a clock whose amounts are as of ref. A half-life of 0 is none.
func NewClock(ref time.Time, halfLife time.Duration) Clock {
	return Clock{ref: ref, half: halfLife.Seconds()}
}

// Reference is the instant to which amounts refer.
func (c Clock) Reference() time.Time { return c.ref }

// HalfLife is 0 when nothing decays.
func (c Clock) HalfLife() time.Duration {
	// Rounded: a clock that is rebased with its own half-life must keep it.
	return time.Duration(math.Round(c.half * float64(time.Second)))
}

// Within is an instant at which service began or ended, as somebody else's clock tells it: not
// before from nor after to.
func Within(at, from, to time.Time) time.Time {
	if at.After(to) {
		at = to
	}
	if at.Before(from) {
		at = from
	}
	return at
}

// Now is an instant in a clock's units.
type Now struct {
	// Tau is the service that one slot, busy since the reference, has received by
	// this instant: the integral of g from ref to t, in slot-seconds. The service of
	// any task is the Tau of its end less the Tau of its start.
	Tau float64
	// Growth is g(t), the weight of service received at this instant: an amount
	// divided by it is as of this instant.
	Growth float64
}

// farthest bounds, in half-lives, how far from the reference an instant is told apart
// from a later or earlier one: so far that the weights before it are nothing beside
// those after it, and near enough that sums and products of amounts stay finite.
const farthest = 512

// At expresses t in the clock's units. Instants more than 512 half-lives from the
// reference are taken to be that far away, so that neither number is ever infinite and
// the growth is never 0; whoever keeps amounts rebases long before.
func (c Clock) At(t time.Time) Now {
	s := t.Sub(c.ref).Seconds()
	if c.half == 0 {
		return Now{Tau: s, Growth: 1}
	}
	x := math.Ln2 * min(max(s/c.half, -farthest), farthest)
	return Now{Tau: c.half / math.Ln2 * math.Expm1(x), Growth: math.Exp(x)}
}

// Rebase returns a clock with the reference t and the half-life, and the functions
// that express an amount and an instant of the old clock in its units. It keeps the
// numbers small when a clock has run for many half-lives. However long t is after the
// old reference, finite amounts stay finite: old amounts vanish. The reference never goes
// back, or amounts would grow.
func (c Clock) Rebase(t time.Time, halfLife time.Duration) (next Clock, amount func(float64) float64, instant func(Now) Now) {
	if t.Before(c.ref) {
		t = c.ref
	}
	// Tau(t) and g(t) may be beyond all numbers. Only their inverses are used: an
	// instant's new Tau is (tau - Tau(t)) / g(t) = tau / g(t) - Tau(t) / g(t).
	left, gone := 1.0, t.Sub(c.ref).Seconds()
	if c.half > 0 {
		x := math.Ln2 * gone / c.half
		left, gone = math.Exp(-x), -c.half/math.Ln2*math.Expm1(-x)
	}
	amount = func(a float64) float64 { return a * left }
	instant = func(n Now) Now { return Now{Tau: n.Tau*left - gone, Growth: n.Growth * left} }
	return NewClock(t, halfLife), amount, instant
}

// prompt is how soon an end is known that counts as known at once.
const prompt = time.Second

// Late is for how long an attempt had ended when that became known, at now. Less than a second counts as
// nothing, as the time that it takes to tell, unless it is told when the attempt began. Zero instants are unknown.
func Late(began, ended, now time.Time) time.Duration {
	late := now.Sub(ended)
	if ended.IsZero() || late < 0 || began.IsZero() && late < prompt {
		return 0
	}
	return late
}
