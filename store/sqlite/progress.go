package sqlite

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Progress implements fairlead.Store.
func (s *Store) Progress(ctx context.Context, all []fairlead.Progress) ([]error, error) {
	out := make([]error, len(all))
	err := s.write(ctx, false, func(t *tx) (err error) {
		for i, p := range all {
			if out[i], err = t.progress(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *tx) progress(p fairlead.Progress) (stale, err error) {
	r, k, stale, err := t.holder(p.Ref)
	if err != nil || stale != nil || !life.Progress(&r.Job, k, p.Began, t.now) {
		return stale, err
	}
	started := k.Started
	t.then(func(s *Store) {
		if l := s.runs[taskKey{p.JobID, p.Task}]; l != nil && l.ref == p.Ref {
			l.started = started
		}
	})
	t.tell(life.ProgressChange(&r.Job, k, t.now))
	return nil, errors.Join(t.saveTask(r, k), t.save(r))
}
