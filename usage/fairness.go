package usage

import (
	"math"
	"time"
)

// Fairness is the account of how far a scheduler is from the ideal fluid one, over
// all the time that it is kept and over windows of the recent past.
//
// The fluid scheduler divides the capacity at every instant, infinitely finely, among
// the pools that could use it at that instant: by minimum, maximum, weight and demand,
// down the tree (Parekh and Gallager, "Generalized processor sharing", 1993). The
// demand is the real one, of the tasks that run and wait in the system as it is. So,
// for a pool i,
//
//	G_i(t) = what it would have had by t, if at every instant it had had its ideal part
//	S_i(t) = what its tasks occupied by t
//	lag_i(t) = G_i(t) - S_i(t), in slot-seconds
//
// Above 0 the pool is owed, below 0 it is ahead. Between two events nothing changes, so
// both are sums of rate x time and exact. The parts of the leaves add up to the lesser
// of capacity and demand, so the lags add up to the slot-seconds that stayed idle
// although somebody wanted them.
//
// Example: four slots, a and b with equal weights. a has tasks of 10 s without end; b
// comes at 5 s. Until then a's part is 4 and it has 4. From 5 s to 10 s each is due 2,
// but a still runs 4: b is owed 2 x 5 = 10 slot-seconds, and a is ahead by as much. At
// 10 s a's tasks end; if b gets all four slots for 10 s, it receives 40 where 20 were
// due, and stands at 10 - 20 = -10.
type Fairness struct {
	from, at time.Time
	rates    []Rate // in force since at
	sums     []Sums // since from
	windows  []*window
}

// Rate is what a pool is due and what it has, in slots, between two events.
type Rate struct{ Ideal, Received float64 }

// Sums are slot-seconds.
type Sums struct {
	Ideal, Received float64
	Largest         float64 // of |lag| at any event; since the account began
}

// Lag is the ideal service less the received service.
func (s Sums) Lag() float64 { return s.Ideal - s.Received }

// Span is a window of the recent past, which moves on part by part: it covers the
// last Parts parts; the latest has only begun.
type Span struct {
	Part  time.Duration
	Parts int
}

// NewFairness returns an account that begins at an instant and looks back over the
// spans besides.
func NewFairness(from time.Time, spans ...Span) *Fairness {
	f := &Fairness{from: from, at: from}
	for _, s := range spans {
		f.windows = append(f.windows, &window{span: s, began: from})
	}
	f.grow(1)
	return f
}

// Set says which rates are in force from t on, by the number of the pool, and how many
// slots are idle although a task would fit. What was in force until t is added up.
func (f *Fairness) Set(t time.Time, rates []Rate, idle float64) {
	f.Advance(t)
	f.grow(1 + len(rates))
	f.rates[0] = Rate{Ideal: idle}
	clear(f.rates[1+copy(f.rates[1:], rates):])
}

// Advance adds up to t what the rates in force give. Time does not go back.
func (f *Fairness) Advance(t time.Time) {
	for f.at.Before(t) {
		next := t
		for _, w := range f.windows {
			if end := w.began.Add(w.span.Part); end.Before(next) {
				next = end
			}
		}
		f.add(next.Sub(f.at).Seconds())
		f.at = next
		for _, w := range f.windows {
			if !w.began.Add(w.span.Part).After(next) {
				w.turn(next, f.sums)
			}
		}
	}
}

func (f *Fairness) add(seconds float64) {
	for i, r := range f.rates {
		if r == (Rate{}) {
			continue
		}
		s := &f.sums[i]
		s.Ideal += r.Ideal * seconds
		s.Received += r.Received * seconds
		if lag := s.Lag(); lag > s.Largest || -lag > s.Largest {
			s.Largest = math.Abs(lag)
		}
	}
}

// grow makes room; number 0 is the idle capacity, and the pools come after it.
func (f *Fairness) grow(n int) {
	if n > len(f.sums) {
		f.rates = append(f.rates, make([]Rate, n-len(f.rates))...)
		f.sums = append(f.sums, make([]Sums, n-len(f.sums))...)
	}
}

// From is when the account began.
func (f *Fairness) From() time.Time { return f.from }

// Largest is the largest |lag| of any pool since the account began.
func (f *Fairness) Largest() float64 {
	largest := 0.0
	for _, s := range f.sums[1:] {
		largest = math.Max(largest, s.Largest)
	}
	return largest
}

// Total is what a pool was due and received since the account began.
func (f *Fairness) Total(pool int) Sums { return f.total(1 + pool) }

// Window is what a pool was due and received in the k-th of the spans.
func (f *Fairness) Window(k, pool int) Sums { return f.window(k, 1+pool) }

// Idle is how many slot-seconds stayed idle in the k-th span although a task would have
// fitted, and IdleTotal since the account began.
func (f *Fairness) Idle(k int) float64 { return f.window(k, 0).Ideal }

// IdleTotal is Idle since the account began.
func (f *Fairness) IdleTotal() float64 { return f.total(0).Ideal }

// Covered is how long the k-th span is now.
func (f *Fairness) Covered(k int) time.Duration {
	w := f.windows[k]
	return f.at.Sub(w.began) + time.Duration(len(w.closed))*w.span.Part
}

func (f *Fairness) total(i int) Sums {
	if i < len(f.sums) {
		return f.sums[i]
	}
	return Sums{}
}

func (f *Fairness) window(k, i int) Sums {
	w, s := f.windows[k], f.total(i)
	if i < len(w.mark) {
		s.Ideal -= w.mark[i].Ideal
		s.Received -= w.mark[i].Received
	}
	if i < len(w.sum) {
		s.Ideal += w.sum[i].Ideal
		s.Received += w.sum[i].Received
	}
	return s
}

// window remembers the parts that have ended. A part lists only the pools that were
// due or received something in it, so that a pool without work costs nothing.
type window struct {
	span   Span
	began  time.Time // the part that has not ended
	mark   []Sums    // at that instant
	closed [][]entry // oldest first
	sum    []Rate    // of closed, in slot-seconds
}

type entry struct {
	pool int32
	Rate // in slot-seconds
}

// turn ends a part. The sum is computed anew, so that no rounding is left of parts that
// are gone.
func (w *window) turn(t time.Time, sums []Sums) {
	var part []entry
	for i, s := range sums {
		if i < len(w.mark) {
			s.Ideal -= w.mark[i].Ideal
			s.Received -= w.mark[i].Received
		}
		if r := (Rate{s.Ideal, s.Received}); r != (Rate{}) {
			part = append(part, entry{int32(i), r})
		}
	}
	w.closed = append(w.closed, part)
	if drop := len(w.closed) - (w.span.Parts - 1); drop > 0 {
		w.closed = append([][]entry(nil), w.closed[drop:]...)
	}
	w.sum = make([]Rate, len(sums))
	for _, part := range w.closed {
		for _, e := range part {
			w.sum[e.pool].Ideal += e.Ideal
			w.sum[e.pool].Received += e.Received
		}
	}
	w.began, w.mark = t, append(w.mark[:0], sums...)
}
