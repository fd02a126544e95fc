package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Tasks returns the running tasks of nodes, or of all nodes if none is named, preceded by the tasks that ended there
// within the duration "past".
func (s *nodesService) Tasks(ctx context.Context, nodes []string, past time.Duration) (*NodeTasks, error) {
	q := url.Values{"node": nodes}
	if past > 0 {
		q.Set("past_seconds", strconv.FormatFloat(past.Seconds(), 'f', -1, 64))
	}
	return get[NodeTasks](ctx, s.client, "/v1/nodes/tasks", q)
}

// List returns the nodes.
func (s *nodesService) List(ctx context.Context) (*Nodes, error) {
	return get[Nodes](ctx, s.client, "/v1/nodes", nil)
}

// Limits returns the licenses and rates and, on request, the jobs, tasks and pools of the users.
func (s *nodesService) Limits(ctx context.Context, users bool) (*Limits, error) {
	q := url.Values{}
	if users {
		q.Set("users", "true")
	}
	return get[Limits](ctx, s.client, "/v1/limits", q)
}

// Drain drains a node, or resumes it, and returns its new state.
func (s *nodesService) Drain(ctx context.Context, node string, r DrainRequest) (*NodeState, error) {
	var out NodeState
	if err := s.client.Call(ctx, http.MethodPost, "/v1/nodes/"+url.PathEscape(node)+"/drain", r, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Reserve makes or changes a reservation.
func (s *nodesService) Reserve(ctx context.Context, name string, r ReserveRequest) (*ReserveResponse, error) {
	out := new(ReserveResponse)
	return out, s.client.Call(ctx, http.MethodPut, "/v1/reservations/"+url.PathEscape(name), r, out)
}

// Reservations lists the reservations that are not over.
func (s *nodesService) Reservations(ctx context.Context) (*Reservations, error) {
	return get[Reservations](ctx, s.client, "/v1/reservations", nil)
}

// Unreserve ends a reservation before its time.
func (s *nodesService) Unreserve(ctx context.Context, name string) (*ReserveResponse, error) {
	out := new(ReserveResponse)
	return out, s.client.Call(ctx, http.MethodDelete, "/v1/reservations/"+url.PathEscape(name), nil, out)
}
