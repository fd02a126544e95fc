package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/fairlead/fairlead"
)

// PauseRequest asks to keep what waits in a pool from starting.
type PauseRequest struct {
	Pool       string    `json:"pool" doc:"Path of a pool, or a user for the user's pool"`
	ForSeconds float64   `json:"for_seconds,omitempty" minimum:"0" doc:"How long it lasts; without this and until it lasts until it is resumed"`
	Until      time.Time `json:"until,omitzero" doc:"Until when it lasts, instead of for_seconds"`
	Reason     string    `json:"reason,omitempty"`
}

// PauseResponse says what a pause, or its end, is about.
type PauseResponse struct {
	Version int            `json:"version"`
	Pause   fairlead.Pause `json:"pause"`
	Tasks   int32          `json:"tasks" doc:"Tasks that run in the pool, and go on"`
	Waiting int64          `json:"waiting" doc:"Tasks that wait in the pool, those that are queued elsewhere included"`
	Queued  int            `json:"queued" doc:"Tasks of these that another queueing system has and that may start there: a pause does not reach them"`
}

// Pauses are those in force.
type Pauses struct {
	Version int              `json:"version"`
	At      time.Time        `json:"at"`
	Pauses  []fairlead.Pause `json:"pauses"`
}

// Pause keeps what waits in a pool from starting.
func (c *Client) Pause(ctx context.Context, r PauseRequest) (*PauseResponse, error) {
	return post[PauseResponse](ctx, c, "/v1/pauses", r)
}

// Pauses lists the pauses in force.
func (c *Client) Pauses(ctx context.Context) (*Pauses, error) {
	return get[Pauses](ctx, c, "/v1/pauses", nil)
}

// Resume lets a paused pool start what waits in it.
func (c *Client) Resume(ctx context.Context, pool string) (*PauseResponse, error) {
	out := new(PauseResponse)
	return out, c.Call(ctx, http.MethodDelete, "/v1/pauses?pool="+url.QueryEscape(pool), nil, out)
}
