package views

import (
	"time"
)

// PoolFairness compares a pool with the ideal fluid scheduler.
type PoolFairness struct {
	Lag     float64      `json:"lag_slot_seconds"`         // behind (above 0) or ahead, since the account began
	Largest float64      `json:"lag_largest_slot_seconds"` // of either sign, since the account began
	Hour    FairnessSpan `json:"hour"`
	Day     FairnessSpan `json:"day"`
	// How late the tasks of the pool were, compared with a private cluster as large as the pool's share.
	LateTasks   int64   `json:"late_tasks"` // number of tasks compared
	LateSeconds float64 `json:"late_seconds"`
	LateLargest float64 `json:"late_largest_seconds"`
}

// FairnessSpan is a time span of the recent past.
type FairnessSpan struct {
	Ideal    float64 `json:"ideal_slot_seconds"`
	Received float64 `json:"received_slot_seconds"`
	// Served is the received service divided by the ideal service, at most 1. It is 1 if the ideal is 0.
	Served float64 `json:"served"`
	// Jain is Jain's index of received service divided by ideal service, over the pools right below it; 1 for a leaf
	// pool.
	Jain float64 `json:"jain"`
}

// Lag returns ideal less received service.
func (s FairnessSpan) Lag() float64 { return s.Ideal - s.Received }

// FairnessView is the fairness of the cluster.
type FairnessView struct {
	Since    time.Time     `json:"since"` // the account began, when the server started
	Hour     FairnessWhole `json:"hour"`
	Day      FairnessWhole `json:"day"`
	Borrowed []Borrowed    `json:"borrowed"` // now
	// Idle is the slot-seconds since the account began in which units were idle although a waiting task would have
	// fitted.
	Idle float64 `json:"idle_while_demand_slot_seconds"`
}

// FairnessWhole sums up a time span of the recent past.
type FairnessWhole struct {
	Seconds float64 `json:"seconds"` // length of the span
	Jain    float64 `json:"jain"`    // of the pools right below the root
	Leaves  float64 `json:"jain_leaves"`
	Idle    float64 `json:"idle_while_demand_slot_seconds"`
	// Served is the mean of Served of the pools right below the root, and Worst is the pool with the smallest Served.
	// Worst is empty if each pool received its ideal service.
	Served      float64 `json:"served"`
	Worst       string  `json:"worst,omitempty"`
	WorstServed float64 `json:"worst_served"`
}

// Borrowed is the part of another pool's share that a pool uses now, because the other has no work for it.
type Borrowed struct {
	Pool  string  `json:"pool"`
	From  string  `json:"from"`
	Units float64 `json:"units"`
}
