package api

import (
	"context"
	"net/http"
	"net/url"
)

// Join offers a machine or a worker.
func (c *Client) Join(ctx context.Context, name string, r JoinRequest) (*JoinResponse, error) {
	return post[JoinResponse](ctx, c, "/v1/agents/"+url.PathEscape(name)+"/join", r)
}

// Poll waits for work.
func (c *Client) Poll(ctx context.Context, name string, r PollRequest) (*PollResponse, error) {
	return post[PollResponse](ctx, c, "/v1/agents/"+url.PathEscape(name)+"/poll", r)
}

// Report reports ends and renews leases.
func (c *Client) Report(ctx context.Context, name string, r ReportRequest) (*ReportResponse, error) {
	return post[ReportResponse](ctx, c, "/v1/agents/"+url.PathEscape(name)+"/report", r)
}

// ReplyLog answers a request for output.
func (c *Client) ReplyLog(ctx context.Context, name, id string, r LogReply) error {
	return c.Call(ctx, http.MethodPost, "/v1/agents/"+url.PathEscape(name)+"/log/"+id, r, nil)
}
