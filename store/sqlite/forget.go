package sqlite

import (
	"context"
	"errors"
	"time"

	"zombiezen.com/go/sqlite"
)

// forgetBatch bounds the jobs that go in one transaction, so that nobody waits long.
const forgetBatch = 500

// Forget removes the jobs that ended before an instant, with everything about them,
// and returns how many there were. Their ids are not used again.
func (s *Store) Forget(ctx context.Context, before time.Time) (n int, err error) {
	for {
		ids, err := s.endedBefore(ctx, before)
		if err != nil || len(ids) == 0 {
			return n, err
		}
		if err := s.write(ctx, false, func(t *tx) error { return t.forgetJobs(ids) }); err != nil {
			return n, err
		}
		n += len(ids)
	}
}

func (s *Store) endedBefore(ctx context.Context, before time.Time) (ids []int64, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		stmt := conn.Prep(`SELECT id FROM job WHERE open IS NULL AND ended < ? LIMIT ?`)
		defer stmt.Reset()
		stmt.BindInt64(1, nanos(before))
		stmt.BindInt64(2, forgetBatch)
		for {
			more, err := stmt.Step()
			if err != nil || !more {
				return err
			}
			ids = append(ids, stmt.ColumnInt64(0))
		}
	})
	return ids, err
}

func (t *tx) forgetJobs(ids []int64) error {
	for _, query := range []string{
		`DELETE FROM task WHERE job = ?`, `DELETE FROM event WHERE job = ?`,
		`DELETE FROM jobkey WHERE job = ?`, `DELETE FROM job WHERE id = ? AND open IS NULL`,
	} {
		stmt := t.conn.Prep(query)
		for _, id := range ids {
			stmt.BindInt64(1, id)
			if err := exec(stmt); err != nil {
				return errors.Join(err, stmt.ClearBindings())
			}
		}
	}
	return nil
}
