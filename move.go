package fairlead

import (
	"context"
	"fmt"
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

// wentElsewhere reports whether a job was put into another pool between the decision to
// start it and its lease. It must not run on the account of the pool that it left.
func (l *Loop) wentElsewhere(s *chosenStart, lease *Lease) bool {
	return l.core.Path(s.Pool) != l.core.Path(l.core.Pool(lease.Job.Pool))
}
