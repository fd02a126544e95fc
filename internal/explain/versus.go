package explain

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Versus compares a job with another job, pool or user, and says which goes first.
func (ex *Explainer) Versus(ctx context.Context, id int64, other string) (*why.Comparison, why.Units, error) {
	j, err := ex.loop.Client().Job(ctx, id)
	if err != nil {
		return nil, why.Units{}, err
	}
	var against *queue.Job
	update := func() error { return ex.update(ctx, other) }
	if n, err := strconv.ParseInt(other, 10, 64); err == nil {
		if against, err = ex.loop.Client().Job(ctx, n); err != nil {
			return nil, why.Units{}, err
		}
		update = func() error { return ex.loop.Sync(ctx) }
	}
	if err := update(); err != nil {
		return nil, why.Units{}, err
	}
	return engine.Read3(ex.loop, func(s *engine.State) (*why.Comparison, why.Units, error) {
		s.Core.Advance(time.Now())
		b := sched.Root
		if against == nil {
			var core *sched.Scheduler
			if core, b, err = poolpath.FindOrMake(s.Core, &s.Shares, other); err != nil {
				return nil, why.Units{}, err
			}
			s = s.With(core)
		}
		a := s.Core.Leaf(s.JobOf(engine.HeaderOf(j)))
		c := &why.Comparison{Version: why.Version, A: fmt.Sprint("job ", id), B: other, PoolA: s.Core.Path(a)}
		if against != nil {
			b, c.B = s.Core.Leaf(s.JobOf(engine.HeaderOf(against))), fmt.Sprint("job ", against.ID)
		}
		c.PoolB = s.Core.Path(b)
		c.Standing = engine.Standing(j, against)
		if versusByPriority(s, c, j, against) {
			return c, unitsOf(s), nil
		}
		level, parts := s.Core.Explain().Parting(a, b)
		if parts {
			c.Decide(level)
			return c, unitsOf(s), nil
		}
		return c, unitsOf(s), sameLeaf(s, c, a, j, against)
	})
}

// update brings the state up to date for a question about a pool, so that the core knows the pool if it exists.
func (ex *Explainer) update(ctx context.Context, pool string) error {
	if err := ex.loop.Sync(ctx); err != nil {
		return err
	}
	_, err := ex.loop.Intake.PoolPath(ctx, pool)
	if errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrInvalid) {
		return nil // the caller reports that
	}
	return err
}

// sameLeaf compares two jobs of one leaf. If jobs do not take turns, the order of submission decides. If they do, the
// job with fewer running tasks goes first. If that is a tie and either job has started, the first is the job that has
// waited longer since one of its tasks started or ended. The last criterion is the age of the jobs.
func sameLeaf(s *engine.State, c *why.Comparison, leaf sched.PoolID, j, against *queue.Job) error {
	if against == nil {
		return fmt.Errorf(
			"job %d is in %s itself; compare it with another pool, or with a job: %w", j.ID, c.PoolB, queue.ErrInvalid)
	}
	if against.ID == j.ID {
		return fmt.Errorf("job %d cannot be compared with itself; name another job: %w", j.ID, queue.ErrInvalid)
	}
	core, now := s.Core.Read(), time.Now()
	runs, since, takesTurns := core.Turn(leaf, s.JobOf(engine.HeaderOf(j)))
	itsRuns, itsSince, _ := core.Turn(leaf, s.JobOf(engine.HeaderOf(against)))
	before := against.ID < j.ID
	switch {
	case takesTurns && runs != itsRuns:
		before = itsRuns < runs
		c.Note = fmt.Sprintf("both are in %s, where jobs with fewer running tasks go first: "+
			"%d tasks of job %d run, and %d of job %d", c.PoolA, runs, j.ID, itsRuns, against.ID)
	case takesTurns && !since.Equal(itsSince) && !(alone(j) && alone(against)):
		before = itsSince.Before(since)
		c.Note = fmt.Sprintf("both are in %s and run equally many tasks; the first is the job that has waited longer since "+
			"one of its tasks started or ended, or since its submission: job %d for %s, and job %d for %s", c.PoolA, j.ID,
			why.Duration(now.Sub(since)), against.ID, why.Duration(now.Sub(itsSince)))
	case takesTurns:
		c.Note = fmt.Sprintf("both are in %s, where jobs with fewer running tasks go first, and then in order of "+
			"submission: %d tasks of each run", c.PoolA, runs)
	default:
		c.Note = fmt.Sprintf("both are in %s, where jobs go in order of submission", c.PoolA)
	}
	if c.By, c.First = "order", "a"; before {
		c.First = "b"
	}
	return nil
}

// alone reports whether no task of a job has started yet.
func alone(j *queue.Job) bool { return j.Started.IsZero() }
