package top

import (
	"fmt"
	"time"
)

// rate measures the starts of tasks per second, over about the last ten seconds.
type rate struct {
	at    []time.Time
	count []uint64
}

func (r *rate) see(count uint64, at time.Time) {
	if n := len(r.count); n > 0 && count < r.count[n-1] {
		*r = rate{} // the server was restarted
	}
	r.at, r.count = append(r.at, at), append(r.count, count)
	for len(r.at) > 2 && at.Sub(r.at[1]) > 10*time.Second {
		r.at, r.count = r.at[1:], r.count[1:]
	}
}

func (r *rate) text() string {
	n := len(r.at) - 1
	if n < 1 || !r.at[n].After(r.at[0]) {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(r.count[n]-r.count[0])/r.at[n].Sub(r.at[0]).Seconds())
}
