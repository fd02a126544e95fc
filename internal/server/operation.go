package server

import (
	"cmp"
	"context"

	"github.com/danielgtaylor/huma/v2"
)

// maxBody bounds a request, in bytes. Submissions of many jobs may be larger.
const (
	maxBody   = 1 << 20
	maxSubmit = 16 << 20
)

// handle registers an operation whose errors are told by the table of package api. The dashboard calls the same
// methods, so they have no types of HTTP.
func handle[I, O any](
	a huma.API, method, path, id, summary string, maxBytes int64, f func(context.Context, *I) (*O, error),
) {
	huma.Register(a, operation(method, path, id, summary, maxBytes), func(ctx context.Context, in *I) (*answer[*O], error) {
		out, err := f(ctx, in)
		if err != nil {
			return nil, problem(err)
		}
		return &answer[*O]{out}, nil
	})
}

func operation(method, path, id, summary string, maxBytes int64) huma.Operation {
	return huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary, MaxBodyBytes: cmp.Or(maxBytes, maxBody),
		Tags: []string{tag(path)},
	}
}

func tag(path string) string {
	switch {
	case len(path) >= 9 && path[:9] == "/v1/agent":
		return "agents"
	case len(path) >= 8 && path[:8] == "/v1/jobs":
		return "jobs"
	}
	return "cluster"
}

// answer is a response of a body and nothing else.
type answer[T any] struct{ Body T }

// posted is a request of a body and nothing else, and namedPost one with a name in its path, too.
type (
	posted[T any]    struct{ Body T }
	namedPost[T any] struct {
		Name string `path:"name"`
		Body T
	}
)

// alone is an operation that needs nothing but who asks.
func alone[O any](f func(context.Context) (*O, error)) func(context.Context, *struct{}) (*O, error) {
	return func(ctx context.Context, _ *struct{}) (*O, error) { return f(ctx) }
}

// body is an operation that needs the body of a request only.
func body[T, O any](f func(context.Context, T) (*O, error)) func(context.Context, *posted[T]) (*O, error) {
	return func(ctx context.Context, in *posted[T]) (*O, error) { return f(ctx, in.Body) }
}
