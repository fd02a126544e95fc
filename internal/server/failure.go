package server

import "context"

// failure is the error that a request ended with. The answer to the client may shorten it; the log has the whole
// error.
type failure struct{ err error }

type failureKey struct{}

// withFailure returns a context in which noteFailure notes the error of the request.
func withFailure(ctx context.Context) (context.Context, *failure) {
	f := &failure{}
	return context.WithValue(ctx, failureKey{}, f), f
}

// noteFailure notes the error that a request ends with.
func noteFailure(ctx context.Context, err error) {
	if f, is := ctx.Value(failureKey{}).(*failure); is {
		f.err = err
	}
}
