package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/queue"
)

// Events implements queue.Journal.
func (s *Store) Events(ctx context.Context, id int64) ([]queue.Event, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(s.journal.events[id]), nil
}

// Record implements queue.Journal.
func (s *Store) Record(ctx context.Context, events []queue.Event) error {
	if _, err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, e := range events {
		s.journal.note(e)
	}
	return nil
}

// Settings implements queue.Settings.
func (s *Store) Settings(ctx context.Context) (map[string]string, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return maps.Clone(s.journal.settings), nil
}

// Set implements queue.Settings.
func (s *Store) Set(ctx context.Context, key, value string) error {
	if _, err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.journal.set(key, value)
	return nil
}
