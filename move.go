package fairlead

import (
	"context"
	"fmt"
	"time"
)

// move makes changes of which some move jobs to other pools.
func (c *Client) move(ctx context.Context, shares *Shares, changes []Alteration) ([]error, error) {
	out := make([]error, len(changes))
	var good []Alteration
	var at []int
	for i, a := range changes {
		if a.Verb == VerbMove {
			j, err := c.Job(ctx, a.Job)
			if err == nil {
				err = shares.settleMove(j, &a)
			}
			if err != nil {
				out[i] = fmt.Errorf("job %d: %w", a.Job, err)
				continue
			}
		}
		good, at = append(good, a), append(at, i)
	}
	if len(good) == 0 {
		return out, nil
	}
	errs, err := c.store.Alter(ctx, good)
	if err != nil {
		return nil, err
	}
	for k, err := range errs {
		out[at[k]] = err
	}
	return out, nil
}

// settleMove decides where a job goes that is to go to another pool, and with which time
// limit: as if it were submitted there with the limit that it has.
func (s *Shares) settleMove(j *Job, a *Alteration) error {
	if a.Pool == "" {
		return invalid("pool", "which one? The job is in %s", j.Pool)
	}
	to := Job{Pool: a.Pool, User: j.User, Limit: j.Limit}
	if err := s.settlePool(&to); err != nil {
		return err
	}
	if err := s.settleLimit(&to); err != nil {
		return err
	}
	a.Pool, a.Limit = to.Pool, to.Limit
	return nil
}

// stray is a lease of a task whose job was moved before it was leased.
type stray struct {
	lease  *Lease
	holder string
}

// returnStrays gives strays back. The store tells of a move that the tasks wait in their new
// pool, and of the return that they wait there again; of the lease in between it tells
// nothing to whoever has it, so that a task is taken from the first before the second comes.
func (l *Loop) returnStrays(ctx context.Context) error {
	if len(l.strays) == 0 {
		return nil
	}
	err := l.readChanges(ctx, 0)
	l.mu.Lock()
	var back []Ref
	now := time.Now()
	for _, s := range l.strays {
		if node, there := l.core.Cluster().Lookup(s.holder); there && err == nil {
			l.core.Abort(l.core.Take(l.jobOf(headerOf(s.lease.Job)), node, s.lease.Started, now), now, false)
		}
		back = append(back, s.lease.Ref)
	}
	l.strays = l.strays[:0]
	l.version++
	l.mu.Unlock()
	go l.giveBack(back)
	return err
}

// wentElsewhere reports whether a job was put into another pool between the decision to
// start it and its lease. It must not run on the account of the pool that it left.
func (l *Loop) wentElsewhere(s *chosenStart, lease *Lease) bool {
	return l.core.Path(s.Pool) != l.core.Path(l.core.Pool(lease.Job.Pool))
}
