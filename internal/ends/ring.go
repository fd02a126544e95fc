package ends

import (
	"slices"
	"time"
)

// ring holds counts by the time bucket in which attempts ended, the oldest first. Buckets without ends take no room.
type ring []bucket

type bucket struct {
	from time.Time
	Count
}

// add counts ends at the present instant, and forgets buckets that are older than reach.
func (r *ring) add(c Count, now time.Time, width, reach time.Duration) {
	from := now.Truncate(width)
	if n := len(*r); n > 0 && !(*r)[n-1].from.Before(from) { // the clock may have been set back
		(*r)[n-1].Count = (*r)[n-1].plus(c)
		return
	}
	old := slices.IndexFunc(*r, func(b bucket) bool { return now.Sub(b.from) <= reach })
	if old < 0 {
		old = len(*r)
	}
	*r = append(slices.Delete(*r, 0, old), bucket{from, c})
}

// since sums up the buckets that began after an instant.
func (r *ring) since(from time.Time) (sum Count) {
	for i := len(*r) - 1; i >= 0 && (*r)[i].from.After(from); i-- {
		sum = sum.plus((*r)[i].Count)
	}
	return sum
}
