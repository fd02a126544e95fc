package memory

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Lease implements queue.Store.
func (s *Store) Lease(ctx context.Context, holder string, wants []queue.Want, ttl time.Duration) ([]queue.Grant, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.admit(wants, now, func(wants []queue.Want, out []queue.Grant) {
		s.grant(holder, wants, out, now, now.Add(ttl))
	}), nil
}

// grant leases the claimed tasks, or alternates.
func (s *Store) grant(holder string, wants []queue.Want, out []queue.Grant, now, until time.Time) {
	wanted := map[int64]bool{}
	for i, w := range wants {
		wanted[w.Job] = true
		if j := s.jobs[w.Job]; j != nil && len(w.Nodes) > 0 {
			out[i] = s.leaseGang(j, w, now, until)
		} else if j != nil {
			out[i] = s.leaseTask(j, w.Charge, holder, now, until)
		}
	}
	for i, w := range wants {
		if j := s.jobs[w.Job]; out[i].Lease != nil || len(w.Nodes) > 0 || j != nil && j.Tasks > 1 && !j.State.Ended() {
			continue
		}
		for _, id := range w.Else {
			other := s.jobs[id]
			if other == nil || other.Tasks > 1 || wanted[id] {
				continue
			}
			if g := s.leaseTask(other, w.Charge, holder, now, until); g.Lease != nil {
				out[i] = g
				break
			}
		}
	}
}

// leaseTask leases a task of a job that is not a gang, or returns the job's waiting tasks.
func (s *Store) leaseTask(j *job, charge float64, holder string, now, until time.Time) (g queue.Grant) {
	t := j.take(now)
	if t == nil {
		if life.Eligible(&j.Job) {
			g.Waiting = j.waits()
		}
		return g
	}
	life.Lease(t, holder, charge, now, until)
	life.Start(&j.Job, now)
	a := s.ledger.account(j.Pool)
	a.Waiting--
	a.Running++
	spec := j.Job
	g.Lease = life.NewLease(&spec, t)
	return g
}

// Renew implements queue.Store.
func (s *Store) Renew(ctx context.Context, refs []queue.Ref, ttl time.Duration) ([]error, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]error, len(refs))
	for i, r := range refs {
		var t *queue.Task
		if _, t, out[i] = s.holder(r); out[i] == nil {
			t.Until = slices.MaxFunc([]time.Time{t.Until, now.Add(ttl)}, time.Time.Compare)
		}
	}
	return out, nil
}
