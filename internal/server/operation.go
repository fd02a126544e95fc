package server

import (
	"cmp"
	"context"

	"github.com/danielgtaylor/huma/v2"
)

// maxBody is the largest request in bytes. Submissions of many jobs may be larger.
const (
	maxBody   = 1 << 20
	maxSubmit = 16 << 20
)

// handle registers an operation whose errors follow the table of package api. The methods have no HTTP types, because
// the dashboard calls them as well.
func handle[I, O any](
	a huma.API, method, path, id, summary string, maxBytes int64, f func(context.Context, *I) (*O, error),
) {
	huma.Register(a, operation(method, path, id, summary, maxBytes), func(ctx context.Context, in *I) (*answer[*O], error) {
		out, err := f(ctx, in)
		if err != nil {
			noteFailure(ctx, err)
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

// answer is a response that has only a body.
type answer[T any] struct{ Body T }

// posted is a request that has only a body; namedPost also has a name in its path.
type (
	posted[T any]    struct{ Body T }
	namedPost[T any] struct {
		Name string `path:"name"`
		Body T
	}
)

// alone adapts an operation without any input.
func alone[O any](f func(context.Context) (*O, error)) func(context.Context, *struct{}) (*O, error) {
	return func(ctx context.Context, _ *struct{}) (*O, error) { return f(ctx) }
}

// body adapts an operation whose only input is the body of a request.
func body[T, O any](f func(context.Context, T) (*O, error)) func(context.Context, *posted[T]) (*O, error) {
	return func(ctx context.Context, in *posted[T]) (*O, error) { return f(ctx, in.Body) }
}
