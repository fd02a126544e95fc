package api

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/account"
)

// PastReport sums up the jobs of the past.
type PastReport struct {
	Version int           `json:"version"`
	At      time.Time     `json:"at"`
	Since   time.Time     `json:"since"`
	Until   time.Time     `json:"until"`
	Unit    string        `json:"unit" doc:"Unit of shares"`
	By      []string      `json:"by"`
	Rows    []account.Row `json:"rows" doc:"In order of month, pool, user and kind"`
}

// PastQuery chooses the tasks to sum up.
type PastQuery struct {
	Since, Until time.Time
	By           []string
	Depth        int
	Zone         string
	Shares       bool // also the shares of pools
}

// PastReport sums up the jobs of the past.
func (c *Client) PastReport(ctx context.Context, q PastQuery) (*PastReport, error) {
	v := url.Values{"since": {q.Since.Format(time.RFC3339Nano)}, "until": {q.Until.Format(time.RFC3339Nano)}, "by": q.By, "depth": {strconv.Itoa(q.Depth)}, "zone": {q.Zone}}
	if q.Shares {
		v.Set("shares", "true")
	}
	return get[PastReport](ctx, c, "/v1/report", v)
}
