package sqlite

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Progress implements queue.Store.
func (s *Store) Progress(ctx context.Context, all []queue.Progress) ([]error, error) {
	return writeEach(ctx, s, all, (*tx).progress)
}

func (t *tx) progress(p queue.Progress) (stale, err error) {
	r, k, stale, err := t.holder(p.Ref)
	if err != nil || stale != nil || !life.Progress(&r.Job, k, p.Began, t.now) {
		return stale, err
	}
	started := k.Started
	t.then(func(m *memory) {
		if l := m.runs[taskKey{p.JobID, p.Task}]; l != nil && l.ref == p.Ref {
			l.started = started
		}
	})
	t.report(life.ProgressChange(&r.Job, k, t.now))
	return nil, errors.Join(t.saveTask(r, k), t.save(r))
}
