package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Record implements queue.Journal.
func (s *Store) Record(ctx context.Context, events []queue.Event) error {
	return s.writer.do(ctx, func(t *tx) error {
		t.events = append(t.events, events...)
		return nil
	})
}

// Events implements queue.Journal.
func (s *Store) Events(ctx context.Context, job int64) (out []queue.Event, err error) {
	err = s.db.query(ctx, `SELECT task, at, code, text FROM @.event WHERE job = $1 ORDER BY id`, func(r pgx.Rows) error {
		e := queue.Event{Job: job}
		var at int64
		err := r.Scan(&e.Task, &at, &e.Code, &e.Text)
		e.At = life.Instant(at)
		out = append(out, e)
		return err
	}, job)
	return out, err
}

// Settings implements queue.Settings.
func (s *Store) Settings(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	err := s.db.query(ctx, `SELECT key, value FROM @.setting`, func(r pgx.Rows) error {
		var key, value string
		err := r.Scan(&key, &value)
		out[key] = value
		return err
	})
	return out, err
}

// Set implements queue.Settings.
func (s *Store) Set(ctx context.Context, key, value string) error {
	return s.writer.do(ctx, func(t *tx) error {
		t.set(key, value)
		return nil
	})
}

// set stores a setting, or removes it if the value is empty.
func (t *tx) set(key, value string) {
	t.report(queue.Change{What: queue.Changed, Reason: key})
	if value == "" {
		t.trip.queue(`DELETE FROM @.setting WHERE key = $1`, key)
		return
	}
	t.trip.queue(`INSERT INTO @.setting (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
}

// Audit implements queue.Auditor.
func (s *Store) Audit(ctx context.Context, entries []queue.AuditEntry, settings map[string]string) error {
	return s.writer.do(ctx, func(t *tx) error {
		for _, e := range entries {
			if e.At.IsZero() {
				e.At = t.trip.now
			}
			t.trip.queue(`INSERT INTO @.audit (at, who, source, what, subject, old, new, refused, note) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
				life.Nanos(e.At), e.Who, e.From, e.What, e.Subject, e.Old, e.New, e.Refused, e.Note)
		}
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			t.set(key, settings[key])
		}
		return nil
	})
}

// Audited implements queue.Auditor.
func (s *Store) Audited(ctx context.Context, q queue.AuditQuery) (out []queue.AuditEntry, err error) {
	limit := any(nil)
	if q.Limit > 0 {
		limit = q.Limit
	}
	err = s.db.query(ctx, `SELECT id, at, who, source, what, subject, old, new, refused, note FROM @.audit
		WHERE ($1 = 0 OR id < $1) AND at >= $2 ORDER BY id DESC LIMIT $3`, func(r pgx.Rows) error {
		var e queue.AuditEntry
		var at int64
		err := r.Scan(&e.ID, &at, &e.Who, &e.From, &e.What, &e.Subject, &e.Old, &e.New, &e.Refused, &e.Note)
		e.At = life.Instant(at)
		out = append(out, e)
		return err
	}, q.Before, life.Nanos(q.Since), limit)
	return out, err
}

// Redact implements queue.Auditor.
func (s *Store) Redact(ctx context.Context, hide func(string) string, settings map[string]string) error {
	entries, err := s.Audited(ctx, queue.AuditQuery{})
	if err != nil {
		return err
	}
	return s.writer.do(ctx, func(t *tx) error {
		for _, e := range entries {
			was := e
			if e.Old, e.New, e.Note = hide(e.Old), hide(e.New), hide(e.Note); e != was {
				t.trip.queue(`UPDATE @.audit SET old = $1, new = $2, note = $3 WHERE id = $4`, e.Old, e.New, e.Note, e.ID)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			t.set(key, settings[key])
		}
		return nil
	})
}
