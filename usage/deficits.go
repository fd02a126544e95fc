package usage

import (
	"math"
	"slices"
)

// Deficits computes the deficit of each child of a pool, exactly and at any instant. The deficit is the service
// that an ideal scheduler would have given the child, less the service that the child received ("deficit" in
// HADOOP-3746).
//
// The ideal scheduler divides a rate at every instant, infinitely finely. A child i with something to run gets
// clamp(w_i L, least_i, most_i), where the level L is such that all parts add up to the rate (water-filling).
// Between two events all of these are constant, so ideal and received service grow linearly, and nothing has to be
// sampled. If the ideal rate of a child is w_i L, only the level changes when other children come and go. Its ideal
// service is stored as w_i times the integral of L, so an event touches only the children whose kind of rate
// changes.
//
// Times are in seconds, amounts in slot-seconds; nothing decays. A child that runs out of work is forgotten, and
// begins at 0 when it comes back.
type Deficits struct {
	rate   float64
	level  float64
	at     float64 // the instant
	filled float64 // integral of the level, up to the instant
	least  float64 // sum of the children's minima
	kids   []debtor
	bends  bends

	changed []int // children whose drift changed
}

type debtor struct {
	weight, min, max float64
	guard            float64 // takes the place of max in the upper bend, and is at most max; see Set
	running          float64
	gone             float64 // the instant at which it ran out of work

	rising   bool    // its ideal rate is weight x level; else it is fixed
	fixed    float64 // that rate
	ideal    float64 // service as of the base
	base     float64 // instant, or integral of the level, to which ideal refers
	received float64 // service until the instant "since"
	since    float64
}

// NewDeficits returns deficits that begin at an instant, without children.
func NewDeficits(at float64) *Deficits {
	return &Deficits{at: at, bends: newBends(), level: math.Inf(1)}
}

// Advance moves the present instant to t.
func (d *Deficits) Advance(t float64) {
	if t > d.at {
		if !math.IsInf(d.level, 1) {
			d.filled += d.level * (t - d.at)
		}
		d.at = t
	}
}

// kid returns child i, and creates it if it does not exist.
func (d *Deficits) kid(i int) *debtor {
	for len(d.kids) <= i {
		d.kids = append(d.kids, debtor{})
	}
	return &d.kids[i]
}

// SetRate sets the number of slots to divide.
func (d *Deficits) SetRate(rate float64) {
	if rate != d.rate {
		d.rate = rate
		d.settle()
	}
}

// Set changes, from now on, the weight of a child, its minimum and the most that it can use, both in slots.
//
// The argument "most" matters only while it is below the part of the child. While it is far above, the upper bend is
// kept lower, at a guard, so that pools with many waiting tasks cost nothing at each submission.
func (d *Deficits) Set(i int, weight, least, most float64) {
	k := d.kid(i)
	least = math.Min(least, most)
	if k.weight == weight && k.min == least && k.max > 0 && most >= k.guard && k.guard < k.max {
		k.max = most
		return
	}
	if k.weight == weight && k.min == least && k.max == most {
		return
	}
	if k.weight != weight {
		d.rebase(k)
		d.changed = append(d.changed, i)
	}
	if k.max <= 0 && d.at > k.gone {
		k.ideal, k.received, k.since = 0, 0, d.at
	}
	if k.max > 0 && most <= 0 {
		k.gone = d.at
	}
	d.remove(i)
	d.least += least - k.min
	k.weight, k.min, k.max = weight, least, most
	k.guard = d.guardOf(k)
	d.insert(i)
	d.rated(i)
	d.settle()
}

// guardOf is the guard of a child: half of the largest amount that it can use, if that half is still far above its
// part; else the whole amount.
func (d *Deficits) guardOf(k *debtor) float64 {
	if half := k.max / 2; !math.IsInf(d.level, 1) && half > 2*k.weight*d.level && half > k.min {
		return half
	}
	return k.max
}

func (d *Deficits) insert(i int) {
	k := &d.kids[i]
	if k.max <= k.min || k.weight <= 0 {
		return
	}
	d.bends.insert(int32(2*i), k.min/k.weight, k.weight)
	if !math.IsInf(k.guard, 1) {
		d.bends.insert(int32(2*i+1), k.guard/k.weight, -k.weight)
	}
}

func (d *Deficits) remove(i int) {
	d.bends.remove(int32(2 * i))
	d.bends.remove(int32(2*i + 1))
}

// settle recomputes the level, and the kind of rate of the children whose bends it passed.
func (d *Deficits) settle() {
	for again := true; again; {
		again = false
		was := d.level
		d.level = d.bends.level(d.least, d.rate)
		if d.level == was {
			return
		}
		var passed []int
		d.bends.between(math.Min(was, d.level), math.Max(was, d.level), func(n int32) { passed = append(passed, int(n/2)) })
		for _, i := range passed {
			if k := &d.kids[i]; k.guard < k.max && k.weight*d.level >= k.guard {
				d.remove(i)
				k.guard = k.max
				d.insert(i)
				again = true
			}
		}
		for _, i := range passed {
			d.rated(i)
		}
	}
}

// rebase makes a child's ideal service refer to the present instant.
func (d *Deficits) rebase(k *debtor) {
	k.ideal = d.idealOf(k)
	k.base = d.at
	if k.rising {
		k.base = d.filled
	}
}

// rated sets a child's kind of rate. It leaves a child whose kind stays unchanged, so that the number that orders
// it, see Still, stays the same to the last digit.
func (d *Deficits) rated(i int) {
	k := &d.kids[i]
	rising, fixed := false, 0.0
	switch part := k.weight * d.level; {
	case k.max <= 0:
	case k.weight == 0 || part <= k.min:
		fixed = k.min
	case part >= k.max:
		fixed = k.max
	default:
		rising = true
	}
	if rising == k.rising && fixed == k.fixed {
		return
	}
	d.changed = append(d.changed, i)
	d.rebase(k)
	k.rising, k.fixed, k.base = rising, fixed, d.at
	if rising {
		k.base = d.filled
	}
}

// Run adds to a child's running slots; a negative width removes slots.
func (d *Deficits) Run(i int, width float64) {
	k := d.kid(i)
	k.received += k.running * (d.at - k.since)
	k.since = d.at
	k.running += width
}

func (d *Deficits) idealOf(k *debtor) float64 {
	if k.rising {
		return k.ideal + k.weight*(d.filled-k.base)
	}
	return k.ideal + k.fixed*(d.at-k.base)
}

// Ideal is the service that the ideal scheduler would have given a child since it came.
func (d *Deficits) Ideal(i int) float64 { return d.idealOf(d.kid(i)) }

// Received is the service that a child received since it came.
func (d *Deficits) Received(i int) float64 {
	k := d.kid(i)
	return k.received + k.running*(d.at-k.since)
}

// Owe sets the deficit of a child.
func (d *Deficits) Owe(i int, owed float64) {
	k := d.kid(i)
	d.rebase(k)
	k.ideal = owed
	k.received, k.since = 0, d.at
}

// Running is the number of slots that a child runs.
func (d *Deficits) Running(i int) float64 { return d.kid(i).running }

// Rate is a child's ideal rate, in slots.
func (d *Deficits) Rate(i int) float64 {
	if k := d.kid(i); k.rising {
		return k.weight * d.level
	}
	return d.kids[i].fixed
}

// Drift is equal for children whose deficits grow equally: it is their weight or, for a fixed rate, a number below
// 0.
func (d *Deficits) Drift(i int) float64 {
	if k := d.kid(i); k.rising {
		return k.weight
	}
	return -1 - d.kids[i].fixed
}

// Still returns the received service of a child minus its ideal service. It leaves out the part of the ideal service
// that grows equally for all children with the same drift. So the result never falls.
func (d *Deficits) Still(i int) float64 {
	k := d.kid(i)
	if k.rising {
		return d.Received(i) - (k.ideal - k.weight*k.base)
	}
	return d.Received(i) - (k.ideal - k.fixed*k.base)
}

// Changed returns the children whose drift changed since the last call. The result is valid until the next event.
func (d *Deficits) Changed() []int {
	c := d.changed
	d.changed = d.changed[:0]
	return c
}

// Clone returns an independent copy.
func (d *Deficits) Clone() *Deficits {
	c := *d
	c.kids, c.bends.nodes = slices.Clone(d.kids), slices.Clone(d.bends.nodes)
	c.changed = slices.Clone(d.changed)
	return &c
}
