package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/queue"
)

// Error is an error in the interface: a code for programs, a text for people, and the next step.
type Error struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// row maps an error to its code, its HTTP status and the exit status of the command line. The first matching row
// counts.
type row struct {
	err    error
	code   string
	status int
	exit   int
}

// Exit statuses of the command line; see docs/reference/exit-status.md.
const (
	ExitRefused     = 1 // refused by policy, or not possible
	ExitUsage       = 2 // wrong use, or an error in a file
	ExitUnreachable = 3 // no server, or none that can serve the request now
	ExitChanges     = 4 // plan or diff found changes
)

var table = []row{
	{queue.ErrNotFound, "not_found", http.StatusNotFound, ExitRefused},
	{queue.ErrStaleAttempt, "stale_attempt", http.StatusConflict, ExitRefused},
	{queue.ErrInvalid, "invalid", http.StatusUnprocessableEntity, ExitUsage},
	{queue.ErrState, "state", http.StatusConflict, ExitRefused},
	{queue.ErrTaken, "taken", http.StatusConflict, ExitRefused},
	{queue.ErrForbidden, "forbidden", http.StatusForbidden, ExitRefused},
	{permit.ErrUnauthenticated, CodeUnauthenticated, http.StatusUnauthorized, ExitRefused},
	{queue.ErrKeyUsed, "key_used", http.StatusConflict, ExitRefused},
	{queue.ErrLimit, "limit", http.StatusTooManyRequests, ExitRefused},
	{queue.ErrBusy, CodeBusy, http.StatusTooManyRequests, ExitUnreachable},
	{queue.ErrFull, "full", http.StatusInsufficientStorage, ExitRefused},
	{queue.ErrClosed, "closed", http.StatusServiceUnavailable, ExitUnreachable},
	{queue.ErrUnavailable, "unavailable", http.StatusServiceUnavailable, ExitUnreachable},
	{context.Canceled, "closed", http.StatusServiceUnavailable, ExitUnreachable},              // the server ends
	{context.DeadlineExceeded, "unavailable", http.StatusServiceUnavailable, ExitUnreachable}, // the server waits no longer
}

// FromError converts an error; nil stays nil.
func FromError(err error) *Error {
	if err == nil {
		return nil
	}
	code, _ := classify(err)
	// The code identifies the error, so the text need not. These suffixes add nothing to the reason before them.
	text := err.Error()
	for _, said := range []error{queue.ErrState, queue.ErrInvalid, queue.ErrForbidden} {
		text = strings.TrimSuffix(text, ": "+said.Error())
	}
	return &Error{Code: code, Detail: strings.ReplaceAll(text, ": fairlead: ", ": ")}
}

func classify(err error) (code string, status int) {
	for _, r := range table {
		if errors.Is(err, r.err) {
			return r.code, r.status
		}
	}
	return "internal", http.StatusInternalServerError
}

// Status returns the HTTP status of an error.
func Status(err error) int { _, status := classify(err); return status }

// Exit returns the exit status of the command line for an error.
func Exit(err error) int {
	for _, r := range table {
		if errors.Is(err, r.err) {
			return r.exit
		}
	}
	return ExitRefused
}

// Err converts e to an error that errors.Is recognizes; nil stays nil.
func (e *Error) Err() error {
	if e == nil {
		return nil
	}
	for _, r := range table {
		if r.code == e.Code {
			return &remoteError{e.Detail, r.err}
		}
	}
	return errors.New(e.Detail)
}

// remoteError is an error that a server returned.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }

// CodeBusy is the code of a request that is refused because there are too many requests of its kind at the moment,
// such as open streams or large requests. The client may try again later.
const CodeBusy = "busy"

// CodeUnauthenticated is the code of a request that is refused because its user is unknown.
const CodeUnauthenticated = "unauthenticated"
