package frontback

import (
	"math"
	"slices"
	"time"
)

// account holds the amounts of one group. The charges of waiting jobs decay. The charges of running jobs
// count in full. The service that ended jobs received decays again.
type account struct {
	name     string
	fraction float64 // its share among the fair-share groups
	rung     int     // index of the level of a priority group; 0 for others

	waiting  aged
	waits    int // how many charges waiting holds
	running  sum
	runs     int
	received aged
}

// charge adds the charge of a job, and returns the instant from which it counts.
func (a *account) charge(amount float64, t time.Time, s *Settings) time.Time {
	a.waits++
	return a.waiting.add(amount, t, s)
}

// uncharge removes an amount that charge added. Without any charges, the total is exactly 0.
func (a *account) uncharge(amount float64, since time.Time, s *Settings) {
	a.waiting.take(amount, since, s)
	if a.waits--; a.waits == 0 {
		a.waiting = aged{}
	}
}

func (a *account) run(amount float64) {
	a.runs++
	a.running.add(amount)
}

func (a *account) stop(amount float64) {
	a.running.add(-amount)
	if a.runs--; a.runs == 0 {
		a.running = sum{}
	}
}

// age decays the amounts up to t.
func (a *account) age(t time.Time, s *Settings) {
	a.waiting.age(t, s)
	a.received.age(t, s)
}

// benefit returns B[g] as of the last call of age.
func (a *account) benefit() float64 {
	return math.Max(0, a.waiting.total.value()) + math.Max(0, a.running.value()) + math.Max(0, a.received.total.value())
}

// lotsPerWindow limits how many lots are kept. Amounts that arrive within a small part of the window form
// one lot, and are forgotten together with the first of them.
const lotsPerWindow = 1024

// Lot is a benefit as of an instant.
type Lot struct {
	At     time.Time `json:"at"`
	Amount float64   `json:"amount"`
}

// aged is a total of amounts that count for a window, or decay with a half-life.
type aged struct {
	total sum
	at    time.Time // up to when the half-life is applied
	lots  []lot     // with a window: the parts of total, the oldest first
}

type lot struct {
	at     time.Time
	amount sum
}

// add adds an amount, and returns the instant from which it counts.
func (g *aged) add(amount float64, t time.Time, s *Settings) time.Time {
	g.age(t, s)
	g.total.add(amount)
	if s.Window == 0 {
		return t
	}
	if n := len(g.lots); n == 0 || t.Sub(g.lots[n-1].at) >= s.Window/lotsPerWindow {
		g.lots = append(g.lots, lot{at: t})
	}
	last := &g.lots[len(g.lots)-1]
	last.amount.add(amount)
	return last.at
}

// take removes the rest of an amount that was added as of an instant.
func (g *aged) take(amount float64, since time.Time, s *Settings) {
	if s.Window > 0 {
		i, found := slices.BinarySearchFunc(g.lots, since, func(l lot, t time.Time) int { return l.at.Compare(t) })
		if !found {
			return // it is forgotten
		}
		g.lots[i].amount.add(-amount)
	} else if s.HalfLife > 0 {
		amount *= left(g.at.Sub(since), s.HalfLife)
	}
	g.total.add(-amount)
}

// age decays the total up to t.
func (g *aged) age(t time.Time, s *Settings) {
	switch {
	case s.Window > 0:
		n := 0
		for n < len(g.lots) && t.Sub(g.lots[n].at) >= s.Window {
			g.total.add(-g.lots[n].amount.value())
			n++
		}
		if g.lots = slices.Delete(g.lots, 0, n); len(g.lots) == 0 {
			g.total = sum{}
		}
	case t.After(g.at):
		if s.HalfLife > 0 && g.total != (sum{}) {
			g.total = sum{high: g.total.value() * left(t.Sub(g.at), s.HalfLife)}
		}
		g.at = t
	}
}

// left returns the rest of an amount of 1 after a time.
func left(after, halfLife time.Duration) float64 {
	return math.Exp2(-float64(after) / float64(halfLife))
}

// state returns the amounts as lots.
func (g *aged) state() []Lot {
	var lots []Lot
	for _, l := range g.lots {
		lots = append(lots, Lot{l.at, l.amount.value()})
	}
	if x := g.total.value(); len(lots) == 0 && x > 0 {
		lots = append(lots, Lot{g.at, x})
	}
	return lots
}
