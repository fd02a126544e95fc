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

// settleLimit gives a job the time limit of its pool if it names none, and refuses one
// above the largest.
func (s *Shares) settleLimit(j *Job) error {
	t := s.Sched.Root.Times(j.Pool)
	switch {
	case j.Limit == 0:
		j.Limit = t.Default()
	case t.Most > 0 && (j.Limit == NoLimit || j.Limit > t.Most):
		return &LimitError{Pool: j.Pool, Asked: j.Limit, Most: t.Most, Of: t.MostOf}
	case j.Limit == NoLimit:
		j.Limit = 0
	}
	return nil
}

// PlansByLimits reports whether the shares in force plan by the time limits of jobs, so
// that one without a limit goes before no other.
func (c *Client) PlansByLimits() bool {
	p := c.shares.Load().Sched.Placement
	return p == sched.EASY || p == sched.Conservative
}
