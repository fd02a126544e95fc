package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/fairlead/fairlead/queue"
)

// transient reports whether another try of the same transaction may succeed, because others were in its way, or the
// database was unavailable. The caller knows that it did not commit.
func transient(err error) bool {
	if half, last := (partial{}), (final{}); errors.As(err, &half) || errors.As(err, &last) {
		return false
	}
	var p *pgconn.PgError
	if errors.As(err, &p) {
		switch p.Code {
		case "40001", "40P01", // serialization failure, deadlock
			"55P03",                   // lock not available
			"25P03",                   // idle in transaction for too long: this process was suspended
			"57P01", "57P02", "57P03", // the server shuts down, or starts
			"53300": // too many connections
			return true
		}
		return strings.HasPrefix(p.Code, "08") // connection
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var n net.Error
	var c *pgconn.ConnectError
	return errors.As(err, &n) || errors.As(err, &c) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
}

// conflict reports whether the database answered, and refused or ended a transaction.
func conflict(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && !strings.HasPrefix(p.Code, "57P") && !strings.HasPrefix(p.Code, "08")
}

// partial marks an error after some rows had already been read.
type partial struct{ error }

func (p partial) Unwrap() error { return p.error }

// final marks an error after which the caller does something other than trying again.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// unknown marks an error after which it is unknown whether a transaction took effect: the connection was lost during
// the commit.
type unknown struct{ error }

func (u unknown) Unwrap() error { return u.error }

func (u unknown) Error() string {
	return "the connection was lost during the commit, which may have taken effect: " + u.error.Error()
}

// uncertain reports whether a transaction may have taken effect although its last statements, including the commit,
// returned err. The flag "reached" says whether the statements before the commit were answered. An error of a statement
// undoes the transaction. An error that ends the session may come just after the commit. If such an error comes before
// the answers of other statements, these were not executed, because a session answers in order. But a pooler may report
// at any point, with its own codes, that it has lost the session.
func uncertain(err error, reached bool) bool {
	var p *pgconn.PgError
	switch {
	case err == nil:
		return false
	case !errors.As(err, &p):
		return reached || !pgconn.SafeToRetry(err)
	case cmp.Or(p.SeverityUnlocalized, p.Severity) == "ERROR":
		return false
	}
	return reached || strings.HasPrefix(p.Code, "08")
}

// unavailable wraps an error if the database does not answer, or not within the store's own timeout. The end of the
// caller's context is not such an error.
func unavailable(caller context.Context, err error) error {
	if err == nil || errors.Is(err, queue.ErrUnavailable) {
		return err
	}
	cause := err
	if half := (partial{}); errors.As(err, &half) {
		cause = half.error
	}
	late := errors.Is(err, context.DeadlineExceeded) && caller.Err() == nil
	if lost := (unknown{}); late || errors.As(err, &lost) || transient(cause) {
		return fmt.Errorf("%w: %w", queue.ErrUnavailable, err)
	}
	return err
}

// explain translates database errors to the errors of package queue.
func explain(err error) error {
	if errors.Is(err, puddle.ErrClosedPool) {
		return fmt.Errorf("%w: the program closed the connection pool that it gave to the store: %w", queue.ErrClosed, err)
	}
	var p *pgconn.PgError
	if !errors.As(err, &p) {
		return err
	}
	switch p.Code {
	case "53100", "53200":
		return fmt.Errorf("%w: %w", queue.ErrFull, err)
	case "42501", "3F000":
		return fmt.Errorf("%w; the user needs CREATE on the database, or a schema of its own", err)
	}
	return err
}
