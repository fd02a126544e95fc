package allocation

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// LimitError is an [ErrForbidden] about a job that asks for more time than its pool allows.
type LimitError struct {
	Pool  string        // of the job
	Asked time.Duration // [NoLimit] if it asked for no limit
	Max   time.Duration
	Of    string // the pool that sets Max, the same or one above it; "" is the root
}

func (e *LimitError) Error() string {
	asked, most := "no limit", units.FormatDuration(e.Max)
	if e.Asked != queue.NoLimit {
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
func (e *LimitError) Is(target error) bool { return target == queue.ErrForbidden }

// LimitIn returns the time limit of a job in a pool: the requested limit, which is [NoLimit] for none, or the default
// of the pool if the request is 0. A limit above the pool's maximum is a [LimitError].
func (c *Config) LimitIn(pool string, asked time.Duration) (time.Duration, error) {
	t := c.Sched.Root.Times(pool)
	switch {
	case asked != queue.NoLimit && (asked < 0 || asked > queue.MaxLimit):
		return 0, queue.Invalidf("limit", "must be from 0 to ten years, got %v", asked)
	case asked == 0:
		return t.Default(), nil
	case t.Max > 0 && (asked == queue.NoLimit || asked > t.Max):
		return 0, &LimitError{Pool: pool, Asked: asked, Max: t.Max, Of: t.MaxOf}
	case asked == queue.NoLimit:
		return 0, nil
	}
	return asked, nil
}

// settleLimit gives a job the time limit of its pool if it names none, and refuses a limit above the pool's maximum.
func (c *Config) settleLimit(j *queue.Job) (err error) {
	limit, err := c.LimitIn(j.Pool, j.Limit)
	if err == nil {
		j.Limit = limit
	}
	return err
}
