package api

import (
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
)

// BoostRequest asks for more weight, or less, for a time.
type BoostRequest struct {
	Pool         string    `json:"pool" doc:"Path of a pool, or a user for the user's pool"`
	Factor       float64   `json:"factor" doc:"Factor for the weight of the pool" minimum:"0.001" maximum:"1000"`
	ForSeconds   float64   `json:"for_seconds,omitempty" minimum:"0" doc:"How long the boost lasts"`
	Until        time.Time `json:"until,omitzero" doc:"End, instead of for_seconds"`
	UsageSeconds float64   `json:"usage_seconds,omitempty" minimum:"0" doc:"The boost ends when the pool has received this number of slot-seconds since the boost began"`
	Reason       string    `json:"reason,omitempty"`
	DryRun       bool      `json:"dry_run,omitempty" doc:"Report what would change; change nothing"`
}

// BoostResponse says what a boost changed.
type BoostResponse struct {
	Version int          `json:"version"`
	Boost   engine.Boost `json:"boost"`
	Weight  Change       `json:"weight"`
	Share   Change       `json:"share" doc:"Share of the parent pool"`
	// Siblings are set by a dry run.
	Siblings map[string]Change `json:"siblings,omitempty" doc:"In a dry run: the shares of the sibling pools"`
	// Order is set by a dry run if jobs wait.
	Order *forecast.Reordering `json:"order,omitempty" doc:"In a dry run: how the order of starts would change"`
}

// Change is a number before and after a change.
type Change struct {
	Old float64 `json:"old"`
	New float64 `json:"new"`
}

// Boosts lists the boosts that are active.
type Boosts struct {
	Version int            `json:"version"`
	At      time.Time      `json:"at"`
	Unit    string         `json:"unit"`
	Boosts  []engine.Boost `json:"boosts"`
}
