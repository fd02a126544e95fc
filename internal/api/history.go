package api

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
)

// PoolHistory is how a pool fared. Steps of which nothing is known, because no server was there,
// are left out of the points.
type PoolHistory struct {
	Version     int       `json:"version"`
	At          time.Time `json:"at"`
	Pool        string    `json:"pool"` // "" is the root
	Unit        string    `json:"unit"`
	From        time.Time `json:"from"`
	To          time.Time `json:"to"`
	StepSeconds float64   `json:"step_seconds"`
	// Points are means over each step, but for the oldest wait, which is the longest.
	Points []fairlead.HistoryPoint `json:"points"`
}

// PoolHistory asks how a pool fared since an instant until another, zero for now, in steps of a
// length, 0 for one that fits.
func (c *Client) PoolHistory(ctx context.Context, pool string, since, until time.Time, step time.Duration) (*PoolHistory, error) {
	q := url.Values{"pool": {pool}, "since": {since.Format(time.RFC3339Nano)}}
	if !until.IsZero() {
		q.Set("until", until.Format(time.RFC3339Nano))
	}
	if step > 0 {
		q.Set("step_seconds", strconv.FormatFloat(step.Seconds(), 'f', -1, 64))
	}
	return get[PoolHistory](ctx, c, "/v1/history", q)
}
