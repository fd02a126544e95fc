package usage

import "math"

// Lag measures how far a scheduler is from the ideal fluid one.
//
// The fluid scheduler divides the capacity at every instant, infinitely finely, by
// weight and demand (Parekh and Gallager, "Generalized processor sharing", 1993).
// For a pool i, lag_i(t) = G_i(t) - S_i(t), where G_i is the service the fluid
// scheduler would have given it by t and S_i what it received, in slot-seconds:
// above 0 it is owed, below 0 it is ahead. Rates are piecewise constant between
// events, so the sums are exact.
type Lag struct {
	at       float64 // seconds
	ideal    []float64
	received []float64
	largest  float64
}

// NewLag returns a measure for n pools from time 0.
func NewLag(n int) *Lag {
	return &Lag{ideal: make([]float64, n), received: make([]float64, n)}
}

// Advance integrates from the last call to t, in seconds: entitled and running are
// the slots that each pool should have had and had during that time.
func (l *Lag) Advance(t float64, entitled, running []float64) {
	dt := t - l.at
	l.at = t
	for i := range l.ideal {
		l.ideal[i] += entitled[i] * dt
		l.received[i] += running[i] * dt
		l.largest = math.Max(l.largest, math.Abs(l.Of(i)))
	}
}

// Of is the lag of pool i, in slot-seconds.
func (l *Lag) Of(i int) float64 { return l.ideal[i] - l.received[i] }

// Largest is the largest absolute lag of any pool at any call of Advance.
func (l *Lag) Largest() float64 { return l.largest }

// Jain is the fairness index of Jain, Chiu and Hawe (DEC-TR-301, 1984) of the
// ratios of what each pool received to what it was entitled to: 1 when all are
// equal, 1/n when one has everything. Pools entitled to nothing are left out; of
// nothing at all the index is 1.
func Jain(received, entitled []float64) float64 {
	n, sum, squares := 0.0, 0.0, 0.0
	for i, e := range entitled {
		if e > 0 {
			x := received[i] / e
			n++
			sum += x
			squares += x * x
		}
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (n * squares)
}
