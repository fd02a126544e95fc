package views

import (
	"time"
)

// PoolFairness is how a pool fares against the ideal fluid scheduler.
type PoolFairness struct {
	Lag     float64      `json:"lag_slot_seconds"`         // owed (above 0) or ahead, since the account began
	Largest float64      `json:"lag_largest_slot_seconds"` // of any sign, since the account began
	Hour    FairnessSpan `json:"hour"`
	Day     FairnessSpan `json:"day"`
	// How late its tasks were against a cluster of its own, as large as its share.
	LateTasks   int64   `json:"late_tasks"` // all that were compared
	LateSeconds float64 `json:"late_seconds"`
	LateLargest float64 `json:"late_largest_seconds"`
}

// FairnessSpan is a stretch of the recent past.
type FairnessSpan struct {
	Ideal    float64 `json:"ideal_slot_seconds"`
	Received float64 `json:"received_slot_seconds"`
	// Served is received over ideal service, at most 1; it is 1 if the ideal is 0.
	Served float64 `json:"served"`
	// Jain is the index of what the pools right below it received over what was due to
	// them; 1 for a pool without such.
	Jain float64 `json:"jain"`
}

// Lag is what is owed.
func (s FairnessSpan) Lag() float64 { return s.Ideal - s.Received }

// FairnessView is how fair the whole is.
type FairnessView struct {
	Since    time.Time     `json:"since"` // the account began, when the server started
	Hour     FairnessWhole `json:"hour"`
	Day      FairnessWhole `json:"day"`
	Borrowed []Borrowed    `json:"borrowed"` // now
	// Idle is slot-seconds since the account began in which units were idle although a
	// task would have fitted.
	Idle float64 `json:"idle_while_demand_slot_seconds"`
}

// FairnessWhole sums up a stretch of the recent past.
type FairnessWhole struct {
	Seconds float64 `json:"seconds"` // that it covers
	Jain    float64 `json:"jain"`    // of the pools at the top
	Leaves  float64 `json:"jain_leaves"`
	Idle    float64 `json:"idle_while_demand_slot_seconds"`
	// Served is the mean of that of the pools at the top, and Worst the pool with the smallest; it
	// is empty if each pool received its ideal service.
	Served      float64 `json:"served"`
	Worst       string  `json:"worst,omitempty"`
	WorstServed float64 `json:"worst_served"`
}

// Borrowed is what a pool runs at this instant of the share of another that has nothing
// to run on it.
type Borrowed struct {
	Pool  string  `json:"pool"`
	From  string  `json:"from"`
	Units float64 `json:"units"`
}
