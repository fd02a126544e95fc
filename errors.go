package fairlead

import (
	"errors"
	"fmt"
)

// What stores and clients promise to return; test with errors.Is.
var (
	// ErrNotFound says that there is no such job, task, pool or node.
	ErrNotFound = errors.New("fairlead: not found")
	// ErrStaleAttempt says that the task was leased again, ended or taken away since:
	// the caller is not its holder any more and has to stop working on it.
	ErrStaleAttempt = errors.New("fairlead: stale attempt")
	// ErrInvalid says that a job or a request cannot be accepted as it is.
	ErrInvalid = errors.New("fairlead: invalid")
	// ErrState says that what was asked for does not go with the job's state.
	ErrState = errors.New("fairlead: not possible in this state")
	// ErrFull says that the disk is full. Nothing that was acknowledged is lost.
	ErrFull = errors.New("fairlead: disk full")
	// ErrBehind says that a cursor is too old for [Store.Changes]: take a new snapshot.
	ErrBehind = errors.New("fairlead: cursor too old")
	// ErrClosed says that the store or loop was closed.
	ErrClosed = errors.New("fairlead: closed")
	// ErrTaken says that another server has a node of that name.
	ErrTaken = errors.New("fairlead: the name is taken")
	// ErrForbidden says that the actor may not do that.
	ErrForbidden = errors.New("fairlead: forbidden")
)

// Invalid is an [ErrInvalid] about one field of a request.
type Invalid struct {
	Field string // e.g. "tasks"
	Msg   string
}

func (e *Invalid) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Msg) }

// Is makes errors.Is(err, ErrInvalid) true.
func (e *Invalid) Is(target error) bool { return target == ErrInvalid }

// Missing is an [ErrNotFound] that says all there is to say.
type Missing struct{ Msg string }

func (e *Missing) Error() string { return e.Msg }

// Is makes errors.Is(err, ErrNotFound) true.
func (e *Missing) Is(target error) bool { return target == ErrNotFound }

func missing(format string, args ...any) error { return &Missing{fmt.Sprintf(format, args...)} }

func invalid(field, format string, args ...any) error {
	return &Invalid{field, fmt.Sprintf(format, args...)}
}
