package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// tracer counts the statements of a pool.
type tracer struct{ statements atomic.Int64 }

func (x *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	x.statements.Add(1)
	return ctx
}

func (x *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// poolAt returns the connection pool of a program.
func poolAt(t *testing.T, url string, change func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// TestPoolOfTheProgram: a store uses the connections of the program, which sees its statements, even next to a
// transaction of the program in a small pool. It leaves the connections open.
func TestPoolOfTheProgram(t *testing.T) {
	t.Parallel()
	url, schema := pgtest.URL(t)
	seen := &tracer{}
	pool := poolAt(t, url, func(c *pgxpool.Config) { c.MaxConns, c.ConnConfig.Tracer = 2, seen })
	s, err := postgres.OpenPool(t.Context(), pool, postgres.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	before := seen.statements.Load()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	beside := submit(t, s, 1, 1)[0]
	of, err := postgres.Tx(tx).Submit(t.Context(), s, []*queue.Job{{Kind: "k", User: "ann", Pool: "ann", Tasks: 1}})
	if err != nil || of[0].Err != nil {
		t.Fatal(err, of)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	grants, err := s.Lease(t.Context(), "n1", []queue.Want{{Job: beside}, {Job: of[0].ID}}, time.Minute)
	if err != nil || grants[0].Lease == nil || grants[1].Lease == nil {
		t.Errorf("leased %+v, %v", grants, err)
	}
	if n := seen.statements.Load() - before; n < 3 {
		t.Errorf("the program saw %d statements", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := pool.Ping(t.Context()); err != nil {
		t.Errorf("the program's pool after the store was closed: %v", err)
	}
}

// TestTransactionsOfNewUsers: a program submits in more simultaneous transactions than its pool has connections, each
// for a user whom nobody knows.
func TestTransactionsOfNewUsers(t *testing.T) {
	t.Parallel()
	url, schema := pgtest.URL(t)
	pool := poolAt(t, url, func(c *pgxpool.Config) { c.MaxConns = 2 })
	s, err := postgres.OpenPool(t.Context(), pool, postgres.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			user := fmt.Sprint("new", i)
			err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
				job := []*queue.Job{{Kind: "k", User: user, Pool: user, Tasks: 1}}
				of, err := postgres.Tx(tx).Submit(t.Context(), s, job)
				if err == nil {
					err = of[0].Err
				}
				return err
			})
			if err != nil {
				t.Errorf("%s: %v", user, err)
			}
		})
	}
	all.Wait()
}

// TestLentPoolIsClosed: if the program has closed its pool, reads and submissions of the store return an error that
// says so. The store can then be closed like any other.
func TestLentPoolIsClosed(t *testing.T) {
	t.Parallel()
	url, schema := pgtest.URL(t)
	pool := poolAt(t, url, func(*pgxpool.Config) {})
	s, err := postgres.OpenPool(t.Context(), pool, postgres.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pool.Close()
	_, submitted := s.Submit(t.Context(), []*queue.Job{{Kind: "k", User: "ann", Pool: "ann", Tasks: 1}})
	_, asked := s.Jobs(t.Context(), queue.Query{})
	for what, err := range map[string]error{"Submit": submitted, "Jobs": asked} {
		if !errors.Is(err, queue.ErrClosed) || errors.Is(err, queue.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestPoolsThatWillNotDo: unsuitable connection pools are refused when the store is opened.
func TestPoolsThatWillNotDo(t *testing.T) {
	t.Parallel()
	refuses := func(pool *pgxpool.Pool, o postgres.Options, want string) {
		t.Helper()
		s, err := postgres.OpenPool(t.Context(), pool, o)
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, queue.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	url, schema := pgtest.URL(t)
	pool := poolAt(t, url, func(c *pgxpool.Config) { c.MaxConns = 1 })
	refuses(pool, postgres.Options{Schema: schema}, "give it 2 or more")
	pooled, schema, direct := pgtest.Pooled(t)
	pool = poolAt(t, pooled, func(*pgxpool.Config) {})
	refuses(pool, postgres.Options{Schema: schema, Direct: direct}, "default_query_exec_mode=exec")
	pool = poolAt(t, pooled, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec })
	s, err := postgres.OpenPool(t.Context(), pool, postgres.Options{Schema: schema, Direct: direct})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	submit(t, s, 1, 1)
}
