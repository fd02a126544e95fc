package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/why"
)

// The times are kept in parts of timesPart; parts that began more than timesKept ago are dropped.
const (
	timesPart = 5 * time.Minute
	timesKept = time.Hour
)

// WaitReason is how long the first jobs of a pool waited for a reason.
type WaitReason struct {
	Pool    string    `json:"pool"`
	Code    why.Code  `json:"code"`
	Text    string    `json:"text" doc:"The latest wording of the reason"`
	Seconds float64   `json:"seconds" doc:"How long it held back the first job of the pool, or of one priority"`
	Last    time.Time `json:"last" doc:"When the reason last applied"`
}

// waitTimes adds up how long each pool waited for which reasons. Its size depends on the time that it covers, not on
// the number of changes, because a pool that alternates between two reasons has many changes.
type waitTimes struct{ pools map[string][]waitTime }

// waitTime is the time of a reason in the part that starts at begin.
type waitTime struct {
	code  why.Code
	text  string
	begin time.Time
	last  time.Time
	long  time.Duration
}

// add counts a reason that a sample found, for the time since the sample before. A pool may have several sampled
// priorities; if more than one of them has the same reason, it counts once.
func (t *waitTimes) add(pool string, reason why.Reason, before, now time.Time) {
	if t.pools == nil {
		t.pools = map[string][]waitTime{}
	}
	kept, begin := t.pools[pool], now.Truncate(timesPart)
	i := slices.IndexFunc(kept, func(x waitTime) bool { return x.code == reason.Code && x.begin.Equal(begin) })
	if i < 0 {
		old := func(x waitTime) bool { return x.begin.Before(oldest(now)) }
		kept = append(slices.DeleteFunc(kept, old), waitTime{code: reason.Code, begin: begin})
		i = len(kept) - 1
	}
	if x := &kept[i]; !x.last.Equal(now) {
		x.text, x.last, x.long = reason.Text, now, x.long+now.Sub(before)
	}
	t.pools[pool] = kept
}

// oldest returns the start of the oldest part that is kept.
func oldest(now time.Time) time.Time { return now.Add(-timesKept).Truncate(timesPart) }

// sum returns the reasons of the last hour by pool, the longest first.
func (t *waitTimes) sum(now time.Time) (all []WaitReason) {
	for pool, kept := range t.pools {
		first := len(all)
		for _, x := range kept {
			if x.begin.Before(oldest(now)) {
				continue
			}
			i := slices.IndexFunc(all[first:], func(w WaitReason) bool { return w.Code == x.code })
			if i < 0 {
				i = len(all) - first
				all = append(all, WaitReason{Pool: pool, Code: x.code})
			}
			w := &all[first+i]
			w.Text, w.Last, w.Seconds = x.text, x.last, w.Seconds+x.long.Seconds()
		}
		if len(all) == first {
			delete(t.pools, pool)
		}
	}
	slices.SortFunc(all, func(a, b WaitReason) int {
		return cmp.Or(strings.Compare(a.Pool, b.Pool), cmp.Compare(b.Seconds, a.Seconds), strings.Compare(string(a.Code),
			string(b.Code)))
	})
	return all
}
