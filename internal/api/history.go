package api

import (
	"time"

	"github.com/fairlead/fairlead/internal/history"
)

// PoolHistory shows how a pool fared. The points have no steps in which no server was there.
type PoolHistory struct {
	Version     int       `json:"version"`
	At          time.Time `json:"at"`
	Pool        string    `json:"pool"` // "" is the root
	Unit        string    `json:"unit"`
	From        time.Time `json:"from"`
	To          time.Time `json:"to"`
	StepSeconds float64   `json:"step_seconds"`
	// Points are means over each step, but for the oldest wait, which is the longest.
	Points []history.HistoryPoint `json:"points"`
}
