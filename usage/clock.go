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

// Reference is the instant as of which amounts are expressed.
func (c Clock) Reference() time.Time { return c.ref }

// HalfLife is 0 when nothing decays.
func (c Clock) HalfLife() time.Duration { return time.Duration(c.half * float64(time.Second)) }

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

// At expresses t in the clock's units.
func (c Clock) At(t time.Time) Now {
	s := t.Sub(c.ref).Seconds()
	if c.half == 0 {
		return Now{Tau: s, Growth: 1}
	}
	x := math.Ln2 * s / c.half
	return Now{Tau: c.half / math.Ln2 * math.Expm1(x), Growth: math.Exp(x)}
}

// Rebase returns a clock with the reference t and the half-life, and the functions
// that express an amount and an instant of the old clock in its units. It keeps the
// numbers small when a clock has run for many half-lives.
func (c Clock) Rebase(t time.Time, halfLife time.Duration) (next Clock, amount func(float64) float64, instant func(Now) Now) {
	now := c.At(t)
	amount = func(a float64) float64 { return a / now.Growth }
	instant = func(n Now) Now {
		return Now{Tau: (n.Tau - now.Tau) / now.Growth, Growth: n.Growth / now.Growth}
	}
	return NewClock(t, halfLife), amount, instant
}
