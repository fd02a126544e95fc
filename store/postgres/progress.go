package postgres

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Progress implements fairlead.Store. It may as well be said twice.
func (s *Store) Progress(ctx context.Context, all []fairlead.Progress) (out []error, err error) {
	refs := make([]fairlead.Ref, len(all))
	for i, p := range all {
		refs[i] = p.Ref
	}
	err = s.repeat(ctx, func(t *tx) error {
		out = make([]error, len(all))
		t.askHolders(refs)
		if err := t.do(); err != nil {
			return err
		}
		for i, p := range all {
			r, k, stale := t.holder(p.Ref)
			if out[i] = stale; stale != nil || !life.Progress(&r.Job, k, p.Began, t.now) {
				continue
			}
			t.saveTask(r, k)
			t.save(r)
			t.tell(life.ProgressChange(&r.Job, k, t.now))
		}
		return nil
	})
	return out, err
}

// chargeTask books the service of an attempt that ended at an instant.
func (t *tx) chargeTask(r *row, k *fairlead.Task, ended time.Time, learn bool) error {
	from, to, learn := life.Served(k, ended, learn)
	return t.charge(r.pool, life.Rate(k.Charge, r.Request, t.s.options.Unit), from, to, learn)
}
