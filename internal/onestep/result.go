package onestep

import (
	"time"

	"github.com/fairlead/fairlead/why"
)

// JobResult is the result of the step for one job.
type JobResult struct {
	ID       int64                 `json:"id"`
	Pool     string                `json:"pool"`
	Rank     int                   `json:"rank,omitempty"` // in the order of the next starts, from 1
	Start    int                   `json:"start"`          // tasks
	Priority *why.Number           `json:"priority,omitempty"`
	Terms    map[string]why.Number `json:"terms,omitempty"`

	names []string
}

// Names returns the terms in the order of the formula.
func (j *JobResult) Names() []string { return j.names }

// Result is the decision of the step.
type Result struct {
	Version  int                    `json:"version"`
	Now      time.Time              `json:"now"`
	Unit     string                 `json:"unit"`
	Capacity map[string]int64       `json:"capacity"`
	Idle     int64                  `json:"idle"` // units, before the step
	Order    []string               `json:"order"`
	Pools    map[string]*PoolResult `json:"pools"`
	Jobs     []*JobResult           `json:"jobs,omitempty"` // in the order of the next starts

	paths  []string
	byCore map[int64]*JobResult // by the number in the scheduler
}

// Paths returns the pools in the order of the tree.
func (r *Result) Paths() []string { return r.paths }

// PoolResult is the result of the step for one pool.
type PoolResult struct {
	Share   float64               `json:"share"`    // of the cluster
	FairNow float64               `json:"fair_now"` // units that the ideal fluid scheduler would give it
	Used    float64               `json:"used"`     // decayed service, slot-seconds
	Policy  string                `json:"policy"`   // of the pool above, which compares it with its siblings
	Formula string                `json:"formula"`
	Order   string                `json:"order_by"` // which key goes first
	Terms   map[string]why.Number `json:"terms"`
	Key     why.Number            `json:"key"`
	// Resource is the compared resource, under the policy drf.
	Resource string `json:"resource,omitempty"`
	Rank     int    `json:"rank,omitempty"` // in the order of the next starts, from 1
	Running  int    `json:"running"`
	Waiting  int    `json:"waiting"`
	Start    int    `json:"start"`
	Stop     int    `json:"stop"`
}
