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

// Bucket keeps a rate: it holds up to burst tokens, gains Count of them in each Per,
// evenly, and gives one to each start. So in no time of length t are there more than
// burst + Count*t/Per starts. It is exact: what it holds follows, in whole numbers, from
// an instant at which it was full and the tokens taken since.
type Bucket struct {
	Limit Rate
	Full  time.Time
	Taken int64
}

// Tokens is how many starts there may be at t; below 0 after the burst was lowered.
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

// give brings a token back that was not used.
func (b *Bucket) give() { b.Taken = max(0, b.Taken-1) }

// Least is the number of tokens that a number of tasks need to start at once: one for each,
// but no more than the bucket can hold. A gang that is larger takes what comes later, too.
func (b *Bucket) Least(tasks int64) int64 { return min(tasks, b.Limit.burst()) }

// next is the instant at which there is a token again.
func (b *Bucket) next() time.Time { return b.when(1) }

// when is the instant at which the bucket has a number of tokens.
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

// change puts another limit in force. What the bucket holds stays, up to the new burst.
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

// RateState is where a rate stands that is kept elsewhere, for many schedulers or beyond
// the life of one.
type RateState struct {
	Name string
	Bucket
	At time.Time // by the clock of whoever keeps it
}

// Resume lets the rate go on under the limit that is in force at t. A clock that was set
// back since cannot make it give more, nor hold it up for longer than it takes to fill.
func (r *RateState) Resume(limit Rate, t time.Time) {
	if r.Limit.check() != nil || r.Taken < 0 {
		r.Bucket = Bucket{} // nothing is known of it
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

// RateLimit is a rate under which starts count, as it is configured.
type RateLimit struct {
	Name  string
	Limit Rate
}
