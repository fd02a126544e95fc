package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// scanner reads columns one after the other.
type scanner struct {
	stmt *sqlite.Stmt
	col  int
}

func (s *scanner) int() int        { s.col++; return s.stmt.ColumnInt(s.col - 1) }
func (s *scanner) int64() int64    { s.col++; return s.stmt.ColumnInt64(s.col - 1) }
func (s *scanner) float() float64  { s.col++; return s.stmt.ColumnFloat(s.col - 1) }
func (s *scanner) bool() bool      { return s.int64() != 0 }
func (s *scanner) text() string    { s.col++; return s.stmt.ColumnText(s.col - 1) }
func (s *scanner) time() time.Time { return life.Instant(s.int64()) }
func (s *scanner) bytes() []byte {
	b := make([]byte, s.stmt.ColumnLen(s.col))
	s.col++
	return b[:s.stmt.ColumnBytes(s.col-1, b)]
}

// task reads the columns of a task.
func (s *scanner) task(t *queue.Task) error {
	t.Attempt, t.Holder, t.State = s.int(), s.text(), life.StateOf(s.int())
	t.Begin, t.Started, t.Ended = s.time(), s.time(), s.time()
	t.Fails, t.Losses = s.int(), s.int()
	life.SetAgain(t, s.int())
	text := s.text()
	t.Charge = s.float()
	return life.ReadOutcome(text, t)
}

// binder binds parameters one after the other.
type binder struct {
	stmt *sqlite.Stmt
	n    int
}

func (b *binder) ints(vs ...int) *binder {
	for _, v := range vs {
		b.int64(int64(v))
	}
	return b
}
func (b *binder) int64(v int64) *binder   { b.n++; b.stmt.BindInt64(b.n, v); return b }
func (b *binder) null() *binder           { b.n++; b.stmt.BindNull(b.n); return b }
func (b *binder) bool(v bool) *binder     { b.n++; b.stmt.BindBool(b.n, v); return b }
func (b *binder) float(v float64) *binder { b.n++; b.stmt.BindFloat(b.n, v); return b }
func (b *binder) text(v string) *binder   { b.n++; b.stmt.BindText(b.n, v); return b }
func (b *binder) times(ts ...time.Time) *binder {
	for _, t := range ts {
		b.int64(life.Nanos(t))
	}
	return b
}

// task binds the columns of a task, from attempt on.
func (b *binder) task(t *queue.Task) (*binder, error) {
	b.ints(t.Attempt).text(t.Holder).int64(stateNumber(t.State)).times(t.Begin, t.Started, t.Ended)
	b.ints(t.Fails, t.Losses, life.AgainBits(t))
	text, err := life.OutcomeText(t.Outcome)
	return b.text(text).float(t.Charge), err
}

// exec runs a statement that returns no rows.
func exec(stmt *sqlite.Stmt) error {
	_, err := stmt.Step()
	return errors.Join(err, stmt.Reset())
}

// scanAll runs a statement and calls f for each of its rows.
func scanAll(stmt *sqlite.Stmt, f func(*scanner) error) error {
	defer stmt.Reset()
	for c := (scanner{stmt: stmt}); ; c.col = 0 {
		if more, err := stmt.Step(); err != nil || !more {
			return err
		}
		if err := f(&c); err != nil {
			return err
		}
	}
}

// each runs a query once, without caching the statement, and calls f for each row.
func each(conn *sqlite.Conn, query string, f func(*sqlite.Stmt)) error {
	stmt, _, err := conn.PrepareTransient(query)
	if err != nil {
		return err
	}
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return errors.Join(err, stmt.Finalize())
		}
		f(stmt)
	}
}

func stateNumber(s queue.State) int64 { return int64(life.StateNumber(s)) }

// explain translates SQLite errors to the errors of package queue.
func explain(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull:
		return fmt.Errorf("%w: %w", queue.ErrFull, err)
	case sqlite.ResultNotADB:
		return fmt.Errorf("the file is not a fairlead database: %w", err)
	case sqlite.ResultCorrupt:
		return fmt.Errorf("the database is damaged; restore a backup: %w", err)
	case sqlite.ResultInterrupt:
		return errors.Join(context.Canceled, err)
	}
	return err
}
