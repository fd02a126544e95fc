package api

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// Workload is the past of a server, for a simulation. Every task is a job of its own; a task that began before the
// window is cut to its remaining time.
type Workload struct {
	Version int           `json:"version"`
	From    time.Time     `json:"from"`
	To      time.Time     `json:"to"`
	Unit    string        `json:"unit" doc:"Unit of shares"`
	Units   int           `json:"units" doc:"Units of the cluster now"`
	Users   []string      `json:"users"`
	Pools   []string      `json:"pools"`
	Jobs    []WorkloadJob `json:"jobs" doc:"In order of submission"`
	Guessed int           `json:"guessed,omitempty" doc:"Tasks that have not ended, with run times of other tasks"`
	LeftOut int           `json:"left_out,omitempty" doc:"Tasks that ask for too much, or whose run time is unknown"`
	Cut     bool          `json:"cut,omitempty" doc:"There were too many tasks: only the latest are included"`
}

// WorkloadJob is one task of a workload. Times are in seconds.
type WorkloadJob struct {
	Job      int64 `json:"job"`
	Submit   int64 `json:"submit" doc:"Since the beginning"`
	Run      int64 `json:"run"`
	Estimate int64 `json:"estimate" doc:"The job's time limit, or a year if it has none"`
	Units    int32 `json:"units"`
	User     int32 `json:"user" doc:"Index in users"`
	Pool     int32 `json:"pool" doc:"Index in pools"`
	NoLimit  bool  `json:"no_limit,omitempty" doc:"The job has no time limit"`
	Running  bool  `json:"running,omitempty" doc:"The job ran when the window began"`
}

// Past returns the last seconds of the server as a workload.
func (c *Client) Past(ctx context.Context, seconds float64) (*Workload, error) {
	return get[Workload](ctx, c, "/v1/workload", url.Values{"seconds": {strconv.FormatFloat(seconds, 'f', 0, 64)}})
}
