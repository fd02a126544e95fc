package sqlite

import (
	"context"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/store/internal/life"
)

// forgetBatch is the maximum number of jobs in one transaction, so that other calls do not wait long.
const forgetBatch = 500

// Forget removes the jobs that ended before an instant, with everything about them, and returns their number. Their ids
// are not used again.
func (s *Store) Forget(ctx context.Context, before time.Time) (n int, err error) {
	for {
		ids, err := s.endedBefore(ctx, before)
		if err != nil || len(ids) == 0 {
			return n, err
		}
		forgotten := 0
		err = s.write(ctx, false, func(t *tx) (err error) {
			forgotten, err = t.forgetJobs(ids, before)
			return err
		})
		if err != nil {
			return n, err
		}
		n += forgotten
	}
}

func (s *Store) endedBefore(ctx context.Context, before time.Time) (ids []int64, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		stmt := conn.Prep(`SELECT id FROM job WHERE open IS NULL AND ended < ? LIMIT ?`)
		stmt.BindInt64(1, life.Nanos(before))
		stmt.BindInt64(2, forgetBatch)
		return scanAll(stmt, func(c *scanner) error { ids = append(ids, c.int64()); return nil })
	})
	return ids, err
}

// forgetJobs removes the jobs if they still count as ended before an instant; some may have been requeued since their
// ids were read. It returns the number of removed jobs.
func (t *tx) forgetJobs(ids []int64, before time.Time) (n int, err error) {
	for _, id := range ids {
		b := binder{stmt: t.conn.Prep(`DELETE FROM job WHERE id = ? AND open IS NULL AND ended < ?`)}
		if err := exec(b.int64(id).times(before).stmt); err != nil {
			return n, err
		}
		if t.conn.Changes() == 0 {
			continue
		}
		n++
		for _, query := range []string{
			`DELETE FROM task WHERE job = ?`, `DELETE FROM event WHERE job = ?`, `DELETE FROM stop WHERE job = ?`, `DELETE FROM jobkey WHERE job = ?`,
			`DELETE FROM depends WHERE on_job = ?`,
		} {
			b := binder{stmt: t.conn.Prep(query)}
			if err := exec(b.int64(id).stmt); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}
