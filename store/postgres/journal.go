package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Record implements fairlead.Journal.
func (s *Store) Record(ctx context.Context, events []fairlead.Event) error {
	return s.write(ctx, func(t *tx) error {
		t.events = append(t.events, events...)
		return nil
	})
}

// Events implements fairlead.Journal.
func (s *Store) Events(ctx context.Context, job int64) (out []fairlead.Event, err error) {
	err = s.query(ctx, `SELECT task, at, code, text FROM @.event WHERE job = $1 ORDER BY id`, func(r pgx.Rows) error {
		e := fairlead.Event{Job: job}
		var at int64
		err := r.Scan(&e.Task, &at, &e.Code, &e.Text)
		e.At = life.Instant(at)
		out = append(out, e)
		return err
	}, job)
	return out, err
}

// Settings implements fairlead.Settings.
func (s *Store) Settings(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	err := s.query(ctx, `SELECT key, value FROM @.setting`, func(r pgx.Rows) error {
		var key, value string
		err := r.Scan(&key, &value)
		out[key] = value
		return err
	})
	return out, err
}

// Set implements fairlead.Settings.
func (s *Store) Set(ctx context.Context, key, value string) error {
	return s.write(ctx, func(t *tx) error {
		t.set(key, value)
		return nil
	})
}

// set keeps a value, or removes it if it is empty.
func (t *tx) set(key, value string) {
	t.tell(fairlead.Change{What: fairlead.Changed, Reason: key})
	if value == "" {
		t.queue(`DELETE FROM @.setting WHERE key = $1`, key)
		return
	}
	t.queue(`INSERT INTO @.setting (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
}

// Audit implements fairlead.Auditor.
func (s *Store) Audit(ctx context.Context, entries []fairlead.AuditEntry, settings map[string]string) error {
	return s.write(ctx, func(t *tx) error {
		for _, e := range entries {
			if e.At.IsZero() {
				e.At = t.now
			}
			t.queue(`INSERT INTO @.audit (at, who, source, what, subject, old, new, refused, note) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
				life.Nanos(e.At), e.Who, e.From, e.What, e.Subject, e.Old, e.New, e.Refused, e.Note)
		}
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			t.set(key, settings[key])
		}
		return nil
	})
}

// Audited implements fairlead.Auditor.
func (s *Store) Audited(ctx context.Context, q fairlead.AuditQuery) (out []fairlead.AuditEntry, err error) {
	limit := any(nil)
	if q.Limit > 0 {
		limit = q.Limit
	}
	err = s.query(ctx, `SELECT id, at, who, source, what, subject, old, new, refused, note FROM @.audit
		WHERE ($1 = 0 OR id < $1) AND at >= $2 ORDER BY id DESC LIMIT $3`, func(r pgx.Rows) error {
		var e fairlead.AuditEntry
		var at int64
		err := r.Scan(&e.ID, &at, &e.Who, &e.From, &e.What, &e.Subject, &e.Old, &e.New, &e.Refused, &e.Note)
		e.At = life.Instant(at)
		out = append(out, e)
		return err
	}, q.Before, life.Nanos(q.Since), limit)
	return out, err
}
