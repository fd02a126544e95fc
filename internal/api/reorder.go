package api

import "github.com/fairlead/fairlead/internal/forecast"

// ReorderRequest asks how the order of starts would change if jobs had another priority.
type ReorderRequest struct {
	Jobs     []int64 `json:"jobs" minItems:"1" maxItems:"10000"`
	Priority string  `json:"priority,omitempty"`
	QOS      *string `json:"qos,omitempty"`
	Nice     *int    `json:"nice,omitempty"`
}

// Reorder says how the order would change.
type Reorder struct {
	Version int `json:"version"`
	forecast.Reordering
}
