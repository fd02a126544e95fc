package fairlead

import (
	"sort"
	"time"
)

// arrivals knows about when each waiting job was submitted, from its id alone: ids grow
// with time, so marks of one job in each second tell it to the second. When there are too
// many of them, they are thinned out to one in each hundredth of their age.
type arrivals []arrival

type arrival struct {
	job int64
	at  time.Time
}

const (
	arrivalApart = time.Second
	arrivalsKept = 4096
)

// note marks a job, if its id is above all others and the last mark some time ago.
func (a *arrivals) note(h Header) {
	if n := len(*a); n > 0 {
		if last := (*a)[n-1]; h.ID <= last.job || h.Submitted.Sub(last.at) < arrivalApart {
			return
		}
	}
	*a = append(*a, arrival{h.ID, h.Submitted})
	if len(*a) <= arrivalsKept {
		return
	}
	kept, newest := (*a)[:1], (*a)[len(*a)-1].at
	for i := 1; i+1 < len(*a); i++ {
		next := (*a)[i+1].at
		if next.Sub(kept[len(kept)-1].at) > newest.Sub(next)/100 {
			kept = append(kept, (*a)[i])
		}
	}
	*a = append(kept, (*a)[len(*a)-1])
}

// since is how long a job has waited since it was submitted, in seconds, at most by a
// second or a hundredth too long. It is 0 for no job, and for one from before all marks.
func (a arrivals) since(job int64, now time.Time) float64 {
	i := sort.Search(len(a), func(i int) bool { return a[i].job > job })
	if job == 0 || i == 0 {
		return 0
	}
	return max(0, now.Sub(a[i-1].at).Seconds())
}
