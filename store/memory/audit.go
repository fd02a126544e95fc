package memory

import (
	"context"

	"github.com/fairlead/fairlead"
)

// Audit implements fairlead.Auditor.
func (s *Store) Audit(ctx context.Context, entries []fairlead.AuditEntry, settings map[string]string) error {
	now, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, e := range entries {
		e.ID = int64(len(s.audit) + 1)
		if e.At.IsZero() {
			e.At = now
		}
		s.audit = append(s.audit, e)
	}
	for key, value := range settings {
		s.set(key, value)
	}
	return nil
}

// Audited implements fairlead.Auditor.
func (s *Store) Audited(ctx context.Context, q fairlead.AuditQuery) ([]fairlead.AuditEntry, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []fairlead.AuditEntry
	for i := len(s.audit) - 1; i >= 0 && (q.Limit == 0 || len(out) < q.Limit); i-- {
		if e := s.audit[i]; (q.Before == 0 || e.ID < q.Before) && !e.At.Before(q.Since) {
			out = append(out, e)
		}
	}
	return out, nil
}

// set keeps a value, or removes it if it is empty.
func (s *Store) set(key, value string) {
	if s.settings[key] = value; value == "" {
		delete(s.settings, key)
	}
}
