package sqlite

import (
	"context"
	"errors"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Audit implements queue.Auditor.
func (s *Store) Audit(ctx context.Context, entries []queue.AuditEntry, settings map[string]string) error {
	return s.write(ctx, true, func(t *tx) error {
		for _, e := range entries {
			if e.At.IsZero() {
				e.At = t.now
			}
			b := binder{stmt: t.conn.Prep(`INSERT INTO audit (at, who, source, what, subject, old, new, refused, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)}
			b.times(e.At).text(e.Who).text(e.From).text(e.What).text(e.Subject).text(e.Old).text(e.New).bool(e.Refused).text(e.Note)
			if err := exec(b.stmt); err != nil {
				return err
			}
		}
		return t.settings(settings)
	})
}

// Audited implements queue.Auditor.
func (s *Store) Audited(ctx context.Context, q queue.AuditQuery) (out []queue.AuditEntry, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		stmt := conn.Prep(`SELECT id, at, who, source, what, subject, old, new, refused, note FROM audit
			WHERE (?1 = 0 OR id < ?1) AND at >= ?2 ORDER BY id DESC LIMIT ?3`)
		stmt.BindInt64(1, q.Before)
		stmt.BindInt64(2, life.Nanos(q.Since))
		limit := int64(-1)
		if q.Limit > 0 {
			limit = int64(q.Limit)
		}
		stmt.BindInt64(3, limit)
		return scanAll(stmt, func(c *scanner) error {
			out = append(out, queue.AuditEntry{
				ID: c.int64(), At: c.time(), Who: c.text(), From: c.text(), What: c.text(), Subject: c.text(),
				Old: c.text(), New: c.text(), Refused: c.bool(), Note: c.text(),
			})
			return nil
		})
	})
	return out, err
}

// Redact implements queue.Auditor. It overwrites the old text in the file, and truncates the write-ahead log, which
// holds it too.
func (s *Store) Redact(ctx context.Context, hide func(string) string, settings map[string]string) error {
	entries, err := s.Audited(ctx, queue.AuditQuery{})
	if err != nil {
		return err
	}
	err = s.write(ctx, false, func(t *tx) (err error) {
		if err := sqlitex.ExecuteTransient(t.conn, `PRAGMA secure_delete = ON`, nil); err != nil {
			return err
		}
		defer func() {
			err = errors.Join(err, sqlitex.ExecuteTransient(t.conn, `PRAGMA secure_delete = OFF`, nil))
		}()
		if err := t.redact(entries, hide); err != nil {
			return err
		}
		return t.settings(settings)
	})
	if err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(s.file, sqlite.OpenReadWrite, sqlite.OpenWAL)
	if err != nil {
		return explain(err)
	}
	return explain(errors.Join(sqlitex.ExecuteTransient(conn, `PRAGMA wal_checkpoint(TRUNCATE)`, nil), conn.Close()))
}

func (t *tx) redact(entries []queue.AuditEntry, hide func(string) string) error {
	for _, e := range entries {
		was := e
		if e.Old, e.New, e.Note = hide(e.Old), hide(e.New), hide(e.Note); e == was {
			continue
		}
		b := binder{stmt: t.conn.Prep(`UPDATE audit SET old = ?, new = ?, note = ? WHERE id = ?`)}
		b.text(e.Old).text(e.New).text(e.Note).int64(e.ID)
		if err := exec(b.stmt); err != nil {
			return err
		}
	}
	return nil
}
