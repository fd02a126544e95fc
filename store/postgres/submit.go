package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/fairlead/fairlead/queue"
)

// Submit implements queue.Store. If ctx ends first, the jobs may still be added.
func (s *Store) Submit(ctx context.Context, jobs []*queue.Job) ([]queue.Submission, error) {
	return s.submissions.join(ctx, jobs)
}

// submit adds jobs in a transaction of the store. If the flag "impatient" is set, it does not try again when another
// open transaction has used a key.
func (s *Store) submit(ctx context.Context, jobs []*queue.Job, impatient bool) (out []queue.Submission, err error) {
	err = s.writer.early(ctx, func(t *tx) (err error) {
		out, err = t.submit(jobs, false)
		if impatient && errors.Is(err, errKeyInUse) {
			return final{err}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// submit adds jobs and returns a submission for each.
func (t *tx) submit(jobs []*queue.Job, foreign bool) ([]queue.Submission, error) {
	out := make([]queue.Submission, len(jobs))
	b := &submission{t: t, foreign: foreign, keys: map[userKey]int64{}, digests: map[userKey]string{},
		over: map[int64]bool{}, takes: map[int64]int64{}, states: map[int64]queue.State{}, claimed: map[int64]bool{}}
	if err := b.prepare(jobs, out); err != nil {
		return nil, err
	}
	for i, r := range b.rows {
		if r == nil {
			continue
		}
		sub, err := b.decide(r, i)
		if err != nil {
			return nil, err
		}
		out[i] = sub
	}
	if err := b.claim(out); err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, r := range b.added {
		paths[r.Pool] = cmp.Or(paths[r.Pool], r.User)
	}
	if err := t.pools.internAll(paths); err != nil {
		return nil, err
	}
	t.changes = slices.Grow(t.changes, len(b.added))
	for i, r := range b.added {
		if err := b.admit(r, b.waits[i]); err != nil {
			return nil, err
		}
	}
	return out, b.insert()
}
