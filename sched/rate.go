package sched

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// Rate limits how many tasks start in a time, whichever pools they are of.
type Rate struct {
	Count int64         // starts
	Per   time.Duration // in this time; a second at least
	Burst int64         // starts at once after a pause; 0 is Count
}

// burst is how many starts may come at once.
func (r Rate) burst() int64 {
	if r.Burst > 0 {
		return r.Burst
	}
	return max(1, r.Count)
}

func (r Rate) String() string {
	per := r.Per.String()
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{time.Second, "s"}, {time.Minute, "m"}, {time.Hour, "h"}, {24 * time.Hour, "d"}} {
		if r.Per == unit.d {
			per = unit.name
		}
	}
	return fmt.Sprintf("%d/%s", r.Count, strings.TrimSuffix(per, "0s"))
}

// maxRate bounds the starts of a rate and of its burst, so that the arithmetic of a
// bucket is exact.
const maxRate = 1_000_000_000

func (r Rate) check() error {
	if r.Count < 1 || r.Count > maxRate || r.Burst < 0 || r.Burst > maxRate || r.Per < time.Second {
		return fmt.Errorf("a rate must be 1 to %d starts in a second or longer, got %d in %v with a burst of %d", maxRate, r.Count, r.Per, r.Burst)
	}
	return nil
}

// bucket keeps a rate: it holds up to burst tokens, gains Count of them in each Per,
// evenly, and gives one to each start. So in no time of length t are there more than
// burst + Count*t/Per starts. It is exact: what it holds follows, in whole numbers, from
// an instant at which it was full and the tokens taken since.
type bucket struct {
	limit Rate
	full  time.Time
	taken int64
}

// tokens is how many starts there may be at t; below 0 after the burst was lowered.
func (b *bucket) tokens(t time.Time) int64 {
	passed := max(0, t.Sub(b.full))
	hi, lo := bits.Mul64(uint64(passed), uint64(b.limit.Count))
	gained, _ := bits.Div64(hi, lo, uint64(b.limit.Per))
	burst := b.limit.burst()
	if gained >= uint64(b.taken) {
		return burst
	}
	return burst - b.taken + int64(gained)
}

// take takes a token.
func (b *bucket) take(t time.Time) {
	if b.tokens(t) >= b.limit.burst() {
		b.full, b.taken = t, 0
	}
	b.taken++
}

// give brings a token back that was not used.
func (b *bucket) give() { b.taken = max(0, b.taken-1) }

// least is how many tokens there have to be for so many tasks to start at once: as many,
// but no more than there can be. A gang that is larger takes what comes later, too.
func (b *bucket) least(tasks int64) int64 { return min(tasks, b.limit.burst()) }

// next is the instant at which there is a token again.
func (b *bucket) next() time.Time { return b.when(1) }

// when is the instant at which there are so many tokens.
func (b *bucket) when(tokens int64) time.Time {
	need := uint64(max(0, b.taken-b.limit.burst()+tokens))
	hi, lo := bits.Mul64(need, uint64(b.limit.Per))
	count := uint64(b.limit.Count)
	if hi >= count {
		return b.full.Add(math.MaxInt64)
	}
	wait, rest := bits.Div64(hi, lo, count)
	if rest > 0 {
		wait++
	}
	return b.full.Add(time.Duration(min(wait, math.MaxInt64)))
}

// change puts another limit in force. What the bucket holds stays, up to the new burst.
func (b *bucket) change(limit Rate, t time.Time) {
	if limit == b.limit {
		return
	}
	if b.limit.Count > 0 && limit.Count > 0 {
		held := max(0, min(b.tokens(t), limit.burst()))
		b.full, b.taken = t, limit.burst()-held
	} else {
		b.full, b.taken = time.Time{}, 0
	}
	b.limit = limit
}

// RateState is what a scheduler has to know of a rate after a restart.
type RateState struct {
	Name  string
	Limit Rate
	Full  time.Time // the bucket was full then,
	Taken int64     // and so many tokens were taken since
}

// Tokens is how many starts counted under a rate so far.
func (s *Scheduler) Tokens() uint64 { return s.taken }

// RateStates returns the states of the rates that are not as they are after a pause.
func (s *Scheduler) RateStates() []RateState {
	var out []RateState
	for i := range s.rates {
		if r := &s.rates[i]; r.limit.Count > 0 && r.tokens(s.at) < r.limit.burst() {
			out = append(out, RateState{r.name, r.limit, r.full, r.taken})
		}
	}
	return out
}

// RestoreRate lets a rate go on from where it was, under the limit now in force. A clock
// that was set back meanwhile cannot make it give more, nor hold it up for longer than
// it takes to fill.
func (s *Scheduler) RestoreRate(state RateState) {
	r := &s.rates[s.rateNumber(state.Name)]
	if r.limit.Count == 0 || state.Limit.check() != nil || state.Taken < 0 {
		return
	}
	now := r.limit
	r.bucket = bucket{state.Limit, state.Full, state.Taken}
	if r.full.After(s.at) {
		r.full = s.at
	}
	if less := r.tokens(s.at); less < 0 {
		r.taken += less
	}
	r.change(now, s.at)
}
