// Package usage says who consumed how much: service received, decayed by a half-life, mean task lengths, and the
// lag behind an ideal fluid scheduler. Package share knows the entitlements, and package sched decides.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package usage

import (
	"math"
	"time"
)

// Clock converts instants to the units in which service is added up.
//
// Service halves every half-life h. Sums are not reduced as time passes. Instead, service is weighted when it is
// received, by g(t) = 2^((t-ref)/h), and the sums stay as they are ("forward decay", Cormode et al., ICDE 2009).
// All sums then contain the same factor, so they can be compared, and addition commutes. Dividing a sum by g(now)
// gives the decayed amount as of now.
type Clock struct {
	ref  time.Time
	half float64 // seconds; 0 is no decay
}

// NewClock returns a clock whose amounts refer to ref. A half-life of 0 means no decay.
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

// Within clamps an instant to [from, to]. It is for the instants at which service began or ended by the clock of
// another machine.
func Within(at, from, to time.Time) time.Time {
	if at.After(to) {
		at = to
	}
	if at.Before(from) {
		at = from
	}
	return at
}

// Now is an instant in the units of a clock.
type Now struct {
	// Tau is the service that one slot, busy since the reference, has received by
	// this instant: the integral of g from ref to t, in slot-seconds. The service of
	// any task is the Tau of its end less the Tau of its start.
	Tau float64
	// Growth is g(t), the weight of service received at this instant. Divide an amount by it to get the amount as
	// of this instant.
	Growth float64
}

// farthest is the largest distance from the reference, in half-lives, at which instants are still distinguished.
// It is so large that older service is negligible, and so small that sums and products of amounts stay finite.
const farthest = 512

// At converts t to the clock's units. An instant more than 512 half-lives from the reference counts as 512
// half-lives away, so that neither number is infinite and the growth is never 0. Callers that keep amounts rebase
// long before.
func (c Clock) At(t time.Time) Now {
	s := t.Sub(c.ref).Seconds()
	if c.half == 0 {
		return Now{Tau: s, Growth: 1}
	}
	x := math.Ln2 * min(max(s/c.half, -farthest), farthest)
	return Now{Tau: c.half / math.Ln2 * math.Expm1(x), Growth: math.Exp(x)}
}

// Rebase returns a clock with the reference t and the half-life, and functions that convert an amount and an
// instant of the old clock to its units. It keeps the numbers small when a clock has run for many half-lives.
// However long t is after the old reference, finite amounts stay finite: old amounts vanish. The reference never
// moves back, because amounts would grow.
func (c Clock) Rebase(t time.Time, halfLife time.Duration) (next Clock, amount func(float64) float64, instant func(Now) Now) {
	if t.Before(c.ref) {
		t = c.ref
	}
	// Tau(t) and g(t) may overflow. Only their inverses are used: an instant's new Tau is (tau - Tau(t)) / g(t) =
	// tau / g(t) - Tau(t) / g(t).
	left, gone := 1.0, t.Sub(c.ref).Seconds()
	if c.half > 0 {
		x := math.Ln2 * gone / c.half
		left, gone = math.Exp(-x), -c.half/math.Ln2*math.Expm1(-x)
	}
	amount = func(a float64) float64 { return a * left }
	instant = func(n Now) Now { return Now{Tau: n.Tau*left - gone, Growth: n.Growth * left} }
	return NewClock(t, halfLife), amount, instant
}

// prompt is the delay below which the report of an end counts as immediate.
const prompt = time.Second

// Late is the delay from the end of an attempt until the instant now, when the end became known. A delay below a
// second is the time that a report takes, and counts as 0, unless the start of the attempt is known. Zero instants
// are unknown.
func Late(began, ended, now time.Time) time.Duration {
	late := now.Sub(ended)
	if ended.IsZero() || late < 0 || began.IsZero() && late < prompt {
		return 0
	}
	return late
}
