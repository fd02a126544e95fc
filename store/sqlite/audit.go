package sqlite

import (
	"context"
	"maps"
	"slices"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Audit implements fairlead.Auditor.
func (s *Store) Audit(ctx context.Context, entries []fairlead.AuditEntry, settings map[string]string) error {
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
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			if err := t.setting(key, settings[key]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Audited implements fairlead.Auditor.
func (s *Store) Audited(ctx context.Context, q fairlead.AuditQuery) (out []fairlead.AuditEntry, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		stmt := conn.Prep(`SELECT id, at, who, source, what, subject, old, new, refused, note FROM audit
			WHERE (?1 = 0 OR id < ?1) AND at >= ?2 ORDER BY id DESC LIMIT ?3`)
		defer stmt.Reset()
		stmt.BindInt64(1, q.Before)
		stmt.BindInt64(2, life.Nanos(q.Since))
		limit := int64(-1)
		if q.Limit > 0 {
			limit = int64(q.Limit)
		}
		stmt.BindInt64(3, limit)
		for {
			more, err := stmt.Step()
			if err != nil || !more {
				return err
			}
			c := scanner{stmt: stmt}
			out = append(out, fairlead.AuditEntry{
				ID: c.int64(), At: c.time(), Who: c.text(), From: c.text(), What: c.text(), Subject: c.text(),
				Old: c.text(), New: c.text(), Refused: c.bool(), Note: c.text(),
			})
		}
	})
	return out, err
}

// setting keeps a value of the callers', or removes it if it is empty.
func (t *tx) setting(key, value string) error {
	b := binder{stmt: t.conn.Prep(`DELETE FROM meta WHERE key = ?`)}
	if value != "" {
		b.stmt = t.conn.Prep(`INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)`)
	}
	if b.text(settingPrefix + key); value != "" {
		b.text(value)
	}
	return exec(b.stmt)
}
