package postgres

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Lease implements queue.Store.
func (s *Store) Lease(
	ctx context.Context, holder string, wants []queue.Want, ttl time.Duration,
) ([]queue.Grant, error) {
	if err := s.limits.make(ctx, limitKeys(life.NewLimits(wants))); err != nil {
		return nil, err
	}
	var out []queue.Grant
	err := s.writer.early(ctx, func(t *tx) error {
		out = make([]queue.Grant, len(wants))
		l := leasing{t: t, holder: holder, ttl: ttl, held: leases{}}
		a := admission{t: t, limits: life.NewLimits(wants)}
		err := a.grant(wants, out, l.all)
		t.reportLeased(wants, out)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (l *leasing) all(wants []queue.Want, out []queue.Grant) error {
	if err := l.claim(wants, out); err != nil {
		return err
	}
	var rest []int64
	for i, w := range wants {
		if out[i].Lease == nil {
			rest = append(rest, w.Job)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return l.rest(wants, out, rest)
}
