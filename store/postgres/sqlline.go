package postgres

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// sqlLine sends statements through database/sql, one at a time.
type sqlLine struct{ tx *sql.Tx }

// SendBatch implements line.
func (l sqlLine) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	return &sqlResults{ctx: ctx, tx: l.tx, rest: b.QueuedQueries}
}

// sqlResults sends each statement when its result is asked for.
type sqlResults struct {
	pgx.BatchResults // nil: the other methods are not called
	ctx              context.Context
	tx               *sql.Tx
	rest             []*pgx.QueuedQuery
}

func (r *sqlResults) Query() (pgx.Rows, error) {
	q := r.rest[0]
	r.rest = r.rest[1:]
	args := make([]any, len(q.Arguments))
	for i, a := range q.Arguments {
		args[i] = plain(a)
	}
	rows, err := r.tx.QueryContext(r.ctx, q.SQL, args...)
	if err != nil {
		return nil, err
	}
	return &sqlRows{rows: rows}, nil
}

func (r *sqlResults) Exec() (pgconn.CommandTag, error) {
	rows, err := r.Query()
	if err == nil {
		err = each(rows, func(pgx.Rows) error { return nil })
	}
	return pgconn.CommandTag{}, err
}

// Close drops statements that were not sent, because an earlier statement has failed.
func (r *sqlResults) Close() error {
	r.rest = nil
	return nil
}

// sqlRows adapts the rows of database/sql, as far as the store reads them.
type sqlRows struct {
	pgx.Rows // nil: the other methods are not called
	rows     *sql.Rows
	err      error
}

func (r *sqlRows) Next() bool             { return r.rows.Next() }
func (r *sqlRows) Scan(into ...any) error { return r.rows.Scan(into...) }
func (r *sqlRows) Err() error             { return errors.Join(r.rows.Err(), r.err) }
func (r *sqlRows) Close()                 { r.err = r.rows.Close() }

// plain formats an array as PostgreSQL's text form, which every driver passes on.
func plain(a any) any {
	switch a := a.(type) {
	case []int64:
		return array(a, func(v int64) string { return strconv.FormatInt(v, 10) })
	case []int32:
		return array(a, func(v int32) string { return strconv.FormatInt(int64(v), 10) })
	case []int16:
		return array(a, func(v int16) string { return strconv.FormatInt(int64(v), 10) })
	case []float64:
		return array(a, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
	case []bool:
		return array(a, strconv.FormatBool)
	case []string:
		return array(a, quoted)
	case [][]byte:
		return array(a, func(v []byte) string {
			if v == nil {
				return "NULL"
			}
			return quoted(`\x` + hex.EncodeToString(v))
		})
	}
	return a
}

func array[T any](a []T, text func(T) string) string {
	var b strings.Builder
	for i, v := range a {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text(v))
	}
	return "{" + b.String() + "}"
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func quoted(s string) string { return `"` + escapes.Replace(s) + `"` }
