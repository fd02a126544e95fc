package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// errUsed says that another store that has to be the only one has the schema open.
var errUsed = errors.New("another server uses the schema; stop that one first, or name another schema (schema=NAME in the URL)")

// How long a store waits for one that may just be ending, or whose end the database has
// not noticed, and how often it looks whether the schema is still its own.
const (
	soleWait  = 3 * time.Second
	soleCheck = 5 * time.Second
)

// sole keeps a schema to one store, with a lock that lasts as long as a connection.
type sole struct {
	conn  *pgx.Conn
	taken atomic.Bool // by another one, while the connection was lost
}

// take waits a little for the schema, and then watches that it stays ours.
func (o *sole) take(ctx context.Context, s *Store) error {
	for began := time.Now(); ; {
		held, err := o.try(ctx, s)
		switch {
		case held:
			s.spawn(func(ctx context.Context) { o.watch(ctx, s) })
			return nil
		case err != nil && !passing(err):
			return err
		case time.Since(began) > soleWait:
			return errors.Join(errUsed, err)
		}
		if !pause(ctx, 3) {
			return ctx.Err()
		}
	}
}

// try connects and takes the lock, if it is free.
func (o *sole) try(ctx context.Context, s *Store) (held bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, s.direct)
	if err != nil {
		return false, err
	}
	o.conn = conn
	err = o.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended($1, 0))`, "sole "+s.prefix).Scan(&held)
	if !held {
		o.drop(ctx)
	}
	return held, err
}

func (o *sole) drop(ctx context.Context) {
	bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	o.conn.Close(bye) // closing it twice is nothing
}

// watch notices that the connection was lost, and takes the schema again.
func (o *sole) watch(ctx context.Context, s *Store) {
	defer func() { o.drop(ctx) }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(soleCheck):
		}
		check, cancel := context.WithTimeout(ctx, soleCheck)
		lost := o.conn.Ping(check) != nil
		cancel()
		for n := 0; lost; n++ {
			o.drop(ctx)
			held, err := o.try(ctx, s)
			// It may be our own earlier connection that still has the lock.
			if o.taken.Store(err == nil && !held && n > 10); held {
				break
			}
			if !pause(ctx, n) {
				return
			}
		}
	}
}
