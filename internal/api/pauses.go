package api

import (
	"time"

	"github.com/fairlead/fairlead/internal/engine"
)

// PauseRequest asks to keep the waiting tasks of a pool from starting.
type PauseRequest struct {
	Pool       string    `json:"pool" doc:"Path of a pool, or a user for the user's pool"`
	ForSeconds float64   `json:"for_seconds,omitempty" minimum:"0" doc:"How long it lasts; without this and until it lasts until it is resumed"`
	Until      time.Time `json:"until,omitzero" doc:"Until when it lasts, instead of for_seconds"`
	Reason     string    `json:"reason,omitempty"`
}

// PauseResponse describes a pause, or its end.
type PauseResponse struct {
	Version int          `json:"version"`
	Pause   engine.Pause `json:"pause"`
	Tasks   int32        `json:"tasks" doc:"Tasks that run in the pool, and go on"`
	Waiting int64        `json:"waiting" doc:"Tasks that wait in the pool, those that are queued elsewhere included"`
	Queued  int          `json:"queued" doc:"Tasks of these that another queueing system has and that may start there: a pause does not reach them"`
}

// Pauses lists the pauses in force.
type Pauses struct {
	Version int            `json:"version"`
	At      time.Time      `json:"at"`
	Pauses  []engine.Pause `json:"pauses"`
}
