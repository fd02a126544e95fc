package views

import (
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// Compared is the key of a pool among its siblings.
type Compared struct {
	Policy   string     `json:"policy"`
	Formula  string     `json:"formula"`
	Order    string     `json:"order"`
	Key      why.Number `json:"key"`       // the formula's result
	Text     string     `json:"text"`      // the same in the words of the policy
	BelowMin bool       `json:"below_min"` // the pool goes before all siblings that are not
}

// PoolView is a pool as `fairlead shares` shows it.
type PoolView struct {
	Path       string         `json:"pool"`
	Depth      int            `json:"depth"` // 0 is the root
	Policy     string         `json:"policy"`
	Weight     float64        `json:"weight"` // boosts included
	BaseWeight float64        `json:"base_weight"`
	Boosts     []engine.Boost `json:"boosts,omitempty"`
	// Paused is the pause that keeps the pool's waiting tasks from starting: its own pause, or the pause of a pool
	// above it; Paused.Pool names that pool.
	Paused     *engine.Pause `json:"paused,omitempty"`
	Share      float64       `json:"share"`        // of the cluster
	ShareHere  float64       `json:"share_here"`   // of the pool above
	FairNow    float64       `json:"fair_now"`     // units, with the demand of this instant
	Want       float64       `json:"want"`         // demand: units that run or wait
	Running    float64       `json:"running"`      // units
	Tasks      int32         `json:"tasks"`        // tasks that run
	Waiting    int64         `json:"waiting"`      // tasks that could start if there were room, and Queued
	Queued     int           `json:"queued"`       // part of Waiting in another queueing system
	Used       float64       `json:"used"`         // decayed, slot-seconds
	UsedHere   float64       `json:"used_here"`    // as a fraction of the pool above
	Mean       float64       `json:"mean_seconds"` // of its tasks that ended
	Min        queue.Amounts `json:"min,omitempty"`
	Max        queue.Amounts `json:"max,omitempty"`
	MaxRunning int           `json:"max_running,omitempty"`
	Configured bool          `json:"configured"`
	// OldestWait is how long the oldest job with a waiting task has waited.
	OldestWait float64 `json:"oldest_wait_seconds"`
	// Compared is its key among its siblings under the policy of the pool above; nil if none of its tasks could start,
	// because then nothing is compared.
	Compared *Compared    `json:"compared,omitempty"`
	Fairness PoolFairness `json:"fairness"`
}
