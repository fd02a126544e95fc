package postgres

import (
	"context"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Progress implements queue.Store. The same report may come twice.
func (s *Store) Progress(ctx context.Context, all []queue.Progress) (out []error, err error) {
	refs := make([]queue.Ref, len(all))
	for i, p := range all {
		refs[i] = p.Ref
	}
	_, err = s.writer.repeat(ctx, func(t *tx) error {
		out = make([]error, len(all))
		t.askHolders(refs)
		if err := t.trip.do(); err != nil {
			return err
		}
		for i, p := range all {
			r, k, stale := t.holder(p.Ref)
			if out[i] = stale; stale != nil || !life.Progress(&r.Job, k, p.Began, t.trip.now) {
				continue
			}
			t.tasks.save(r, k)
			t.jobs.save(r)
			t.report(life.ProgressChange(&r.Job, k, t.trip.now))
		}
		return nil
	})
	return out, err
}
