package api

import (
	"time"

	"github.com/fairlead/fairlead/internal/history"
)

// PoolHistory shows how a pool fared. It has no points for steps in which no server ran.
type PoolHistory struct {
	Version     int       `json:"version"`
	At          time.Time `json:"at"`
	Pool        string    `json:"pool"` // "" is the root
	Unit        string    `json:"unit"`
	From        time.Time `json:"from"`
	To          time.Time `json:"to"`
	StepSeconds float64   `json:"step_seconds"`
	// Points are averages over each step, except the oldest wait, which is the maximum.
	Points []history.HistoryPoint `json:"points"`
}
