package memory

import (
	"context"

	"github.com/fairlead/fairlead/queue"
)

// Audit implements queue.Auditor.
func (s *Store) Audit(ctx context.Context, entries []queue.AuditEntry, settings map[string]string) error {
	now, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, e := range entries {
		e.ID = int64(len(s.journal.audit) + 1)
		if e.At.IsZero() {
			e.At = now
		}
		s.journal.audit = append(s.journal.audit, e)
	}
	for key, value := range settings {
		s.journal.set(key, value)
	}
	return nil
}

// Audited implements queue.Auditor.
func (s *Store) Audited(ctx context.Context, q queue.AuditQuery) ([]queue.AuditEntry, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []queue.AuditEntry
	for i := len(s.journal.audit) - 1; i >= 0 && (q.Limit == 0 || len(out) < q.Limit); i-- {
		if e := s.journal.audit[i]; (q.Before == 0 || e.ID < q.Before) && !e.At.Before(q.Since) {
			out = append(out, e)
		}
	}
	return out, nil
}

// Redact implements queue.Auditor.
func (s *Store) Redact(ctx context.Context, hide func(string) string, settings map[string]string) error {
	if _, err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for i := range s.journal.audit {
		e := &s.journal.audit[i]
		e.Old, e.New, e.Note = hide(e.Old), hide(e.New), hide(e.Note)
	}
	for key, value := range settings {
		s.journal.set(key, value)
	}
	return nil
}
