package api

import (
	"context"

	"github.com/fairlead/fairlead"
)

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
	fairlead.Reordering
}

// Reorder asks how the order of starts would change; nothing is changed.
func (c *Client) Reorder(ctx context.Context, r ReorderRequest) (*Reorder, error) {
	return post[Reorder](ctx, c, "/v1/jobs/reorder", r)
}
