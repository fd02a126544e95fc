package sqlite

import (
	"context"
	"maps"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
)

// note stores an event.
func (t *tx) note(e queue.Event) error {
	b := binder{stmt: t.conn.Prep(`INSERT INTO event (job, task, at, code, text) VALUES (?, ?, ?, ?, ?)`)}
	return exec(b.int64(e.Job).ints(e.Task).times(e.At).text(e.Code).text(e.Text).stmt)
}

// noteAll stores events.
func (t *tx) noteAll(events []queue.Event) error {
	for _, e := range events {
		if err := t.note(e); err != nil {
			return err
		}
	}
	return nil
}

// Record implements queue.Journal.
func (s *Store) Record(ctx context.Context, events []queue.Event) error {
	return s.write(ctx, true, func(t *tx) error { return t.noteAll(events) })
}

// Events implements queue.Journal.
func (s *Store) Events(ctx context.Context, job int64) (out []queue.Event, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		stmt := conn.Prep(`SELECT task, at, code, text FROM event WHERE job = ? ORDER BY id`)
		stmt.BindInt64(1, job)
		return scanAll(stmt, func(c *scanner) error {
			out = append(out, queue.Event{Job: job, Task: c.int(), At: c.time(), Code: c.text(), Text: c.text()})
			return nil
		})
	})
	return out, err
}

// settingPrefix keeps the callers' settings apart from the store's own.
const settingPrefix = "setting/"

// setting stores a setting of the callers, or removes it if the value is empty.
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

// settings stores several settings.
func (t *tx) settings(all map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if err := t.setting(key, all[key]); err != nil {
			return err
		}
	}
	return nil
}

// Settings implements queue.Settings.
func (s *Store) Settings(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, `SELECT key, value FROM meta`, func(r *sqlite.Stmt) {
			if key, ours := strings.CutPrefix(r.ColumnText(0), settingPrefix); ours {
				out[key] = r.ColumnText(1)
			}
		})
	})
	return out, err
}

// Set implements queue.Settings.
func (s *Store) Set(ctx context.Context, key, value string) error {
	return s.write(ctx, value != "", func(t *tx) error { return t.setting(key, value) })
}
