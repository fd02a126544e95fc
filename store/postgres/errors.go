package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead/fairlead"
)

// passing reports whether the same transaction may well succeed when it is tried again:
// others were in its way, or the database was away. The caller knows that it did not commit.
func passing(err error) bool {
	if half, last := (partial{}), (final{}); errors.As(err, &half) || errors.As(err, &last) {
		return false
	}
	var p *pgconn.PgError
	if errors.As(err, &p) {
		switch p.Code {
		case "40001", "40P01", // serialization failure, deadlock
			"55P03",                   // lock not available
			"25P03",                   // idle in transaction for too long: this process was stopped
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

// conflict reports whether the database was there, and refused or ended a transaction.
func conflict(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && !strings.HasPrefix(p.Code, "57P") && !strings.HasPrefix(p.Code, "08")
}

// partial says that some rows had been read already.
type partial struct{ error }

func (p partial) Unwrap() error { return p.error }

// final says that the caller has another way than to try again.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// unknown says that nobody knows whether a transaction took effect: the connection was
// lost while it was committed.
type unknown struct{ error }

func (u unknown) Unwrap() error { return u.error }

func (u unknown) Error() string {
	return "the connection was lost during the commit, which may have taken effect: " + u.error.Error()
}

// explain translates errors of the database into those that the interface promises.
func explain(err error) error {
	var p *pgconn.PgError
	if !errors.As(err, &p) {
		return err
	}
	switch p.Code {
	case "53100", "53200":
		return fmt.Errorf("%w: %w", fairlead.ErrFull, err)
	case "42501", "3F000":
		return fmt.Errorf("%w; the user needs CREATE on the database, or a schema of its own", err)
	}
	return err
}
