package fairlead

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
)

// MaxLimit bounds the time limit of a job.
const MaxLimit = 10 * 365 * 24 * time.Hour

// NoLimit, as the Limit of a job that is submitted, asks for none even where its pool has
// a default. Where the pool has a maximum, the job is refused.
const NoLimit = -time.Second

// LimitError is an [ErrForbidden] about a job that asks for more time than its pool allows.
type LimitError struct {
	Pool  string        // of the job
	Asked time.Duration // [NoLimit]: for no limit
	Most  time.Duration
	Of    string // the pool, the same or one above, that says so; "" is the root
}

func (e *LimitError) Error() string {
	asked, most := "no limit", units.FormatDuration(e.Most)
	if e.Asked != NoLimit {
		asked = units.FormatDuration(e.Asked)
	}
	of := "the root"
	if e.Of != "" {
		of = e.Of
	}
	return fmt.Sprintf("time limit: the job asks for %s, and jobs in %s may have %s at most (max_time of %s); submit it with -t %s or less, or into another pool",
		asked, e.Pool, most, of, most)
}

// Is makes errors.Is(err, ErrForbidden) true.
func (e *LimitError) Is(target error) bool { return target == ErrForbidden }

// LimitIn is the time limit of a job in a pool: what it asks for, which is [NoLimit] if it is
// to have none, or the default of the pool if that is 0. A limit above the largest that the pool
// allows is a [LimitError].
func (s *Shares) LimitIn(pool string, asked time.Duration) (time.Duration, error) {
	t := s.Sched.Root.Times(pool)
	switch {
	case asked == 0:
		return t.Default(), nil
	case t.Most > 0 && (asked == NoLimit || asked > t.Most):
		return 0, &LimitError{Pool: pool, Asked: asked, Most: t.Most, Of: t.MostOf}
	case asked == NoLimit:
		return 0, nil
	}
	return asked, nil
}

// settleLimit gives a job the time limit of its pool if it names none, and refuses one
// above the largest.
func (s *Shares) settleLimit(j *Job) (err error) {
	limit, err := s.LimitIn(j.Pool, j.Limit)
	if err == nil {
		j.Limit = limit
	}
	return err
}

// PlansByLimits reports whether the shares in force plan by the time limits of jobs, so
// that one without a limit goes before no other.
func (c *Client) PlansByLimits() bool {
	p := c.shares.Load().Sched.Placement
	return p == sched.EASY || p == sched.Conservative
}
