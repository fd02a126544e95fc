package queue

import (
	"errors"
	"fmt"
)

// Errors that stores and clients return; test with errors.Is.
var (
	// ErrNotFound says that there is no such job, task, pool or node.
	ErrNotFound = errors.New("fairlead: not found")
	// ErrStaleAttempt says that the task has since been leased again, ended or been taken away: the caller no longer
	// holds it and must stop working on it.
	ErrStaleAttempt = errors.New("fairlead: stale attempt")
	// ErrInvalid says that a job or a request cannot be accepted as it is.
	ErrInvalid = errors.New("fairlead: invalid")
	// ErrState says that the operation is not possible in the job's state.
	ErrState = errors.New("fairlead: not possible in this state")
	// ErrFull says that the disk is full. Nothing that was acknowledged is lost.
	ErrFull = errors.New("fairlead: disk full")
	// ErrBehind says that a cursor is too old for [Store.Changes]: the caller must take a new snapshot.
	ErrBehind = errors.New("fairlead: cursor too old")
	// ErrClosed says that the store or the engine was closed.
	ErrClosed = errors.New("fairlead: closed")
	// ErrUnavailable says that the database of the store does not answer. The same call may succeed later; whether it
	// took effect this time is not always known.
	ErrUnavailable = errors.New("fairlead: the database does not answer")
	// ErrTaken says that another server has a node with that name.
	ErrTaken = errors.New("fairlead: the name is taken")
	// ErrLimit says that a user has reached a limit that applies to each user separately.
	ErrLimit = errors.New("fairlead: the user has reached a limit")
	// ErrKeyUsed says that the key of a job belongs to an earlier job, which was submitted with other contents.
	ErrKeyUsed = errors.New("fairlead: key used for another job")
	// ErrBusy says that the server already handles too many such requests, of this user or of all users. The same
	// request may succeed soon.
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

// missing is an [ErrNotFound] with a complete message of its own.
type missing struct{ Msg string }

func (e *missing) Error() string { return e.Msg }

// Is makes errors.Is(err, ErrNotFound) true.
func (e *missing) Is(target error) bool { return target == ErrNotFound }

// Missingf returns an [ErrNotFound] with a complete message of its own.
func Missingf(format string, args ...any) error { return &missing{fmt.Sprintf(format, args...)} }

// NoJob returns the [ErrNotFound] of a job that does not exist, or that was deleted after its end.
func NoJob(id int64) error { return Missingf("there is no job %d; see fairlead queue --all", id) }

// Invalidf returns an [Invalid] about a field.
func Invalidf(field, format string, args ...any) error {
	return &Invalid{field, fmt.Sprintf(format, args...)}
}

// KeyError is an [ErrKeyUsed]: the key of a job belongs to an earlier job with other contents.
type KeyError struct {
	Key string
	Job int64 // the job that has the key
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("the key %.100q belongs to job %d, which has different contents; use a key again only for the same job, and give this one another key", e.Key, e.Job)
}

// Is makes errors.Is(err, ErrKeyUsed) true.
func (e *KeyError) Is(target error) bool { return target == ErrKeyUsed }
