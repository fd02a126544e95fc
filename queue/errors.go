package queue

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
	// ErrState is returned if an operation is not possible in the job's state.
	ErrState = errors.New("fairlead: not possible in this state")
	// ErrFull says that the disk is full. Nothing that was acknowledged is lost.
	ErrFull = errors.New("fairlead: disk full")
	// ErrBehind says that a cursor is too old for [Store.Changes]: take a new snapshot.
	ErrBehind = errors.New("fairlead: cursor too old")
	// ErrClosed says that the store or loop was closed.
	ErrClosed = errors.New("fairlead: closed")
	// ErrUnavailable says that the database of the store does not answer. The same call may succeed
	// when it is back; whether it took effect this time is not always known.
	ErrUnavailable = errors.New("fairlead: the database does not answer")
	// ErrTaken says that another server has a node of that name.
	ErrTaken = errors.New("fairlead: the name is taken")
	// ErrLimit says that a user has as much as one user may have.
	ErrLimit = errors.New("fairlead: limit of each user")
	// ErrKeyUsed says that the key of a job stands for another one, which was submitted with
	// something else.
	ErrKeyUsed = errors.New("fairlead: key used for another job")
	// ErrBusy says that the server does too much of that at the moment, for this user or for all.
	// The same request may succeed soon.
	ErrBusy = errors.New("fairlead: busy")
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

// Missingf returns a [Missing].
func Missingf(format string, args ...any) error { return &Missing{fmt.Sprintf(format, args...)} }

// Invalidf returns an [Invalid] about a field.
func Invalidf(field, format string, args ...any) error {
	return &Invalid{field, fmt.Sprintf(format, args...)}
}

// KeyError is an [ErrKeyUsed]: the key of a job stands for another one, which asked for something else.
type KeyError struct {
	Key string
	Job int64 // that has the key
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("the key %.100q stands for job %d, which was submitted with something else: a key is for the same job submitted again; give this one another key", e.Key, e.Job)
}

// Is makes errors.Is(err, ErrKeyUsed) true.
func (e *KeyError) Is(target error) bool { return target == ErrKeyUsed }
