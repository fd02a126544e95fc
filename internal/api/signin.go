package api

import (
	"context"
	"net/http"
	"time"
)

// SignInRequest asks for an address that opens the dashboard.
type SignInRequest struct{}

// SignInResponse is an address that opens the dashboard as who asked, once.
type SignInResponse struct {
	Version int       `json:"version"`
	Address string    `json:"address" doc:"To be opened by a browser, once; the browser then has a session"`
	Until   time.Time `json:"until" doc:"The address works until then"`
}

// SignOutResponse says how many sessions were ended.
type SignOutResponse struct {
	Version int `json:"version"`
	Ended   int `json:"ended" doc:"How many sessions were ended"`
}

// SignIn gets an address that opens the dashboard, once.
func (c *Client) SignIn(ctx context.Context) (*SignInResponse, error) {
	return post[SignInResponse](ctx, c, "/v1/sign-in", SignInRequest{})
}

// SignOut ends all sessions of browsers that belong to who asks.
func (c *Client) SignOut(ctx context.Context) (*SignOutResponse, error) {
	out := new(SignOutResponse)
	return out, c.Call(ctx, http.MethodDelete, "/v1/sessions", nil, out)
}
