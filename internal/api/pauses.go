package api

import (
	"time"

	"github.com/fairlead/fairlead/internal/engine"
)

// PauseRequest asks to keep the waiting tasks of a pool from starting.
type PauseRequest struct {
	Pool       string    `json:"pool" doc:"Path of a pool, or a user for the user's pool"`
	ForSeconds float64   `json:"for_seconds,omitempty" minimum:"0" doc:"How long the pause lasts; without for_seconds and until: until somebody resumes the pool"`
	Until      time.Time `json:"until,omitzero" doc:"End, instead of for_seconds"`
	Reason     string    `json:"reason,omitempty"`
}

// PauseResponse describes a pause, or its end.
type PauseResponse struct {
	Version int          `json:"version"`
	Pause   engine.Pause `json:"pause"`
	// Before is the pause that this one replaces.
	Before  *engine.Pause `json:"before,omitempty" doc:"The pause that this one replaces"`
	Tasks   int32         `json:"tasks" doc:"Running tasks of the pool, which continue"`
	Waiting int64         `json:"waiting" doc:"Waiting tasks of the pool, including tasks that are queued elsewhere"`
	Queued  int           `json:"queued" doc:"Of these: tasks in another queueing system, which may start there despite the pause"`
}

// Pauses lists the pauses that are active.
type Pauses struct {
	Version int            `json:"version"`
	At      time.Time      `json:"at"`
	Pauses  []engine.Pause `json:"pauses"`
}
