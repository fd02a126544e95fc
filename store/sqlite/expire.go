package sqlite

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Leases are renewed in memory, and ended on disk. Between the decision that a lease has run out and the end of the
// lease, nobody may renew it: a caller who tries waits until the outcome is known.

// Renew implements queue.Store. It writes nothing to disk: see the package comment.
func (s *Store) Renew(ctx context.Context, refs []queue.Ref, ttl time.Duration) ([]error, error) {
	for {
		out, ending, err := s.mem.renew(refs, ttl)
		if ending == nil {
			return out, err
		}
		select {
		case <-ending:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// renew renews all leases, or renews none and returns a channel to wait for.
func (m *memory) renew(refs []queue.Ref, ttl time.Duration) (out []error, ending <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, nil, queue.ErrClosed
	}
	until := time.Now().Add(ttl)
	out = make([]error, len(refs))
	held := make([]*lease, len(refs))
	for i, r := range refs {
		switch l := m.runs[taskKey{r.JobID, r.Task}]; {
		case l == nil || l.ref.Attempt != r.Attempt:
			out[i] = queue.ErrStaleAttempt
		case l.ending != nil:
			return nil, l.ending, nil
		default:
			held[i] = l
		}
	}
	for _, l := range held {
		if l != nil && l.until.Before(until) {
			l.until = until
		}
	}
	return out, nil, nil
}

// Expire implements queue.Store.
func (s *Store) Expire(ctx context.Context, holder string) ([]queue.Ref, error) {
	if err := s.place.there(); err != nil { // checked even if nothing is written
		return nil, err
	}
	due := s.mem.due(holder, time.Now())
	if len(due) == 0 {
		return nil, nil
	}
	known := make(chan struct{})
	defer s.mem.spare(due, known)
	var out []queue.Ref
	err := s.write(context.WithoutCancel(ctx), false, func(t *tx) error {
		out = out[:0]
		for _, ref := range due {
			if !s.mem.claim(ref, holder, t.now, known) {
				continue
			}
			lost, err := t.lose(ref)
			if err != nil {
				return err
			}
			if lost {
				out = append(out, ref)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// due returns, in order, all attempts of a holder. Without a holder it returns the attempts whose leases ran out.
func (m *memory) due(holder string, now time.Time) []queue.Ref {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []queue.Ref
	for _, l := range m.runs {
		if holder == "" && !l.until.After(now) || holder != "" && l.holder == holder {
			due = append(due, l.ref)
		}
	}
	slices.SortFunc(due, func(a, b queue.Ref) int {
		return cmp.Or(cmp.Compare(a.JobID, b.JobID), cmp.Compare(a.Task, b.Task))
	})
	return due
}

// claim keeps others from renewing a lease that is about to be ended. It returns false if an expired lease has been
// renewed meanwhile, or is over.
func (m *memory) claim(ref queue.Ref, holder string, now time.Time, known chan struct{}) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.runs[taskKey{ref.JobID, ref.Task}]
	if l == nil || l.ref != ref || holder == "" && l.until.After(now) {
		return false
	}
	l.ending = known
	return true
}

// spare permits the renewal of leases again if they were not ended after all. It also closes the given channel.
func (m *memory) spare(refs []queue.Ref, known chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, ref := range refs {
		if l := m.runs[taskKey{ref.JobID, ref.Task}]; l != nil && l.ending == known {
			l.ending = nil
		}
	}
	close(known)
}
