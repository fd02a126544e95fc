package sched

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// Rate limits the number of starts per time, in whichever pools.
type Rate struct {
	Count int64         // number of starts
	Per   time.Duration // in this time; at least a second
	Burst int64         // starts at the same moment after a pause; 0 is Count
}

// burst is the number of starts possible at the same moment.
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

// maxRate is the largest Count and Burst of a rate, so that the arithmetic of a bucket is exact.
const maxRate = 1_000_000_000

func (r Rate) check() error {
	if r.Count < 1 || r.Count > maxRate || r.Burst < 0 || r.Burst > maxRate || r.Per < time.Second {
		return fmt.Errorf("a rate must be 1 to %d starts in a second or longer, got %d in %v with a burst of %d", maxRate, r.Count, r.Per, r.Burst)
	}
	return nil
}

// Bucket is the state of a rate: it holds up to burst tokens, gains Count tokens in each Per, evenly, and loses one
// at each start. So no time span of length t has more than burst + Count*t/Per starts. It is exact: the number of
// tokens follows, in integers, from an instant at which it was full and the tokens taken since.
type Bucket struct {
	Limit Rate
	Full  time.Time
	Taken int64
}

// Tokens is the number of starts possible at t; below 0 after the burst was lowered.
func (b *Bucket) Tokens(t time.Time) int64 {
	passed := max(0, t.Sub(b.Full))
	hi, lo := bits.Mul64(uint64(passed), uint64(b.Limit.Count))
	gained, _ := bits.Div64(hi, lo, uint64(b.Limit.Per))
	burst := b.Limit.burst()
	if gained >= uint64(b.Taken) {
		return burst
	}
	return burst - b.Taken + int64(gained)
}

// Take takes one token for each start.
func (b *Bucket) Take(t time.Time, tasks int64) {
	if b.Tokens(t) >= b.Limit.burst() {
		b.Full, b.Taken = t, 0
	}
	b.Taken += tasks
}

// give returns an unused token.
func (b *Bucket) give() { b.Taken = max(0, b.Taken-1) }

// Least is the number of tokens that tasks need to start together: one each, but no more than the bucket can hold.
// A larger gang also uses up later tokens.
func (b *Bucket) Least(tasks int64) int64 { return min(tasks, b.Limit.burst()) }

// next is the instant of the next token.
func (b *Bucket) next() time.Time { return b.when(1) }

// when is the instant at which the bucket will have a number of tokens.
func (b *Bucket) when(tokens int64) time.Time {
	need := uint64(max(0, b.Taken-b.Limit.burst()+tokens))
	hi, lo := bits.Mul64(need, uint64(b.Limit.Per))
	count := uint64(b.Limit.Count)
	if hi >= count {
		return b.Full.Add(math.MaxInt64)
	}
	wait, rest := bits.Div64(hi, lo, count)
	if rest > 0 {
		wait++
	}
	return b.Full.Add(time.Duration(min(wait, math.MaxInt64)))
}

// change applies another limit. The bucket keeps its tokens, up to the new burst.
func (b *Bucket) change(limit Rate, t time.Time) {
	if limit == b.Limit {
		return
	}
	if b.Limit.Count > 0 && limit.Count > 0 {
		held := max(0, min(b.Tokens(t), limit.burst()))
		b.Full, b.Taken = t, limit.burst()-held
	} else {
		b.Full, b.Taken = time.Time{}, 0
	}
	b.Limit = limit
}

// RateState is the state of a rate that is stored elsewhere, for several schedulers or beyond the life of one.
type RateState struct {
	Name string
	Bucket
	At time.Time // by the clock of the program that stores it
}

// Resume continues the rate under the limit that applies at t. A clock that was set back in the meantime neither
// adds tokens nor delays starts for longer than the bucket takes to fill.
func (r *RateState) Resume(limit Rate, t time.Time) {
	if r.Limit.check() != nil || r.Taken < 0 {
		r.Bucket = Bucket{} // the stored state is unusable
	}
	if r.At.After(t) && r.Limit.Count > 0 {
		if r.Full.After(t) {
			r.Full = t
		}
		r.Taken += min(0, r.Tokens(t))
	}
	r.change(limit, t)
	r.At = t
}

// RateLimit is a configured rate that starts count under.
type RateLimit struct {
	Name  string
	Limit Rate
}
