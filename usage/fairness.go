package usage

import (
	"math"
	"time"
)

// Fairness records how far a scheduler is from the ideal fluid scheduler, over the whole time since it began and
// over windows of the recent past.
//
// The fluid scheduler divides the capacity at every instant, infinitely finely, among the pools that could use it
// at that instant. It divides by minimum, maximum, weight and demand, down the tree (Parekh and Gallager,
// "Generalized processor sharing", 1993). The demand is the real one, of the running and waiting tasks in the
// actual system. So, for a pool i,
//
//	G_i(t) = the service by t, if the pool had had its ideal part at every instant
//	S_i(t) = the slot-seconds that its tasks occupied by t
//	lag_i(t) = G_i(t) - S_i(t), in slot-seconds
//
// With a positive lag the pool is behind, with a negative lag ahead. Between two events nothing changes, so both
// are sums of rate x time and exact. The parts of the leaf pools add up to the lesser of capacity and demand, so
// the lags add up to the slot-seconds that stayed idle despite demand.
//
// Example: four slots, a and b with equal weights. a always has tasks of 10 s; b comes at 5 s. Until then a's
// part is 4 and it has 4. Between 5 s and 10 s each is entitled to 2, but a still runs 4. So b is behind by 2 x 5 =
// 10 slot-seconds, and a is ahead by as much. At 10 s a's tasks end. If b gets all four slots for 10 s, it receives
// 40 where it was entitled to 20, and stands at 10 - 20 = -10.
type Fairness struct {
	from, at time.Time
	rates    []Rate // in effect since the instant "at"
	sums     []Sums // since the instant "from"
	windows  []*window
}

// Rate is the entitlement of a pool and the slots that it has, between two events.
type Rate struct{ Ideal, Received float64 }

// Sums are in slot-seconds.
type Sums struct {
	Ideal, Received float64
	Largest         float64 // largest |lag| at any event since the account began
}

// Lag is the ideal service less the received service.
func (s Sums) Lag() float64 { return s.Ideal - s.Received }

// Span is a window of the recent past that moves in steps of one part: it covers the last Parts parts, including
// the current, incomplete one.
type Span struct {
	Part  time.Duration
	Parts int
}

// NewFairness returns an account that begins at an instant and also covers the given spans.
func NewFairness(from time.Time, spans ...Span) *Fairness {
	f := &Fairness{from: from, at: from}
	for _, s := range spans {
		f.windows = append(f.windows, &window{span: s, began: from})
	}
	f.grow(1)
	return f
}

// Set changes the rates from t on, by the number of the pool, and the number of slots that are idle although a task
// would fit. It first adds up the former rates until t.
func (f *Fairness) Set(t time.Time, rates []Rate, idle float64) {
	f.Advance(t)
	f.grow(1 + len(rates))
	f.rates[0] = Rate{Ideal: idle}
	clear(f.rates[1+copy(f.rates[1:], rates):])
}

// Advance adds up the current rates until t. Time does not go back.
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

// grow makes room for n numbers: number 0 is the idle capacity, and the pools follow.
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

// Total is the ideal and the received service of a pool since the account began.
func (f *Fairness) Total(pool int) Sums { return f.total(1 + pool) }

// Window is the ideal and the received service of a pool in the k-th span.
func (f *Fairness) Window(k, pool int) Sums { return f.window(k, 1+pool) }

// Idle is the number of slot-seconds in the k-th span that stayed idle although a task would have fitted.
func (f *Fairness) Idle(k int) float64 { return f.window(k, 0).Ideal }

// IdleTotal is Idle since the account began.
func (f *Fairness) IdleTotal() float64 { return f.total(0).Ideal }

// Covered is the present length of the k-th span.
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

// window stores the completed parts of a span. A part lists only the pools with ideal or received service in it, so
// that a pool without work costs nothing.
type window struct {
	span   Span
	began  time.Time // start of the current part
	mark   []Sums    // the sums at that instant
	closed [][]entry // oldest first
	sum    []Rate    // of closed, in slot-seconds
}

type entry struct {
	pool int32
	Rate // in slot-seconds
}

// turn completes a part. It recomputes the sum, so that dropped parts leave no rounding errors.
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
