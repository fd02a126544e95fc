package api

import (
	"context"
	"net/http"
	"time"
)

// SignInRequest asks for an address that opens the dashboard.
type SignInRequest struct {
	Admin bool `json:"admin,omitempty" doc:"Let the session of an administrator make changes, for 15 minutes"`
}

// SignInResponse has an address that opens the dashboard once as the user who asked.
type SignInResponse struct {
	Version int       `json:"version"`
	Address string    `json:"address" doc:"Address that a browser opens once; the browser then has a session"`
	Until   time.Time `json:"until" doc:"The address works until then"`
	// OnlyLooks is true for an administrator who did not ask for a session that changes things.
	OnlyLooks bool `json:"only_looks,omitempty" doc:"This is a read-only session of an administrator"`
}

// SignOutResponse says how many sessions ended.
type SignOutResponse struct {
	Version int `json:"version"`
	Ended   int `json:"ended" doc:"Number of sessions that were ended"`
}

// SignIn returns an address that opens the dashboard, once.
func (c *Client) SignIn(ctx context.Context, r SignInRequest) (*SignInResponse, error) {
	return post[SignInResponse](ctx, c, "/v1/sign-in", r)
}

// SignOut ends all browser sessions of the user who asks.
func (c *Client) SignOut(ctx context.Context) (*SignOutResponse, error) {
	out := new(SignOutResponse)
	return out, c.Call(ctx, http.MethodDelete, "/v1/sessions", nil, out)
}
