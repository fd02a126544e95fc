package web

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/share"
)

// shared is a source whose pools are looked at once for all pages that are asked for within a moment:
// thousands of them take longer than the rest of a page, and the scheduler waits meanwhile. While
// something happens all the time they may be sharedPart times as old as it took to look at them.
type shared struct {
	Source

	mu   sync.Mutex
	last *api.Shares
	of   uint64
	took time.Duration

	courses keptCourses
	waited  keptWaits
}

// keptCourses are the courses of pools, which change slowly. The lock is their own: pages that need
// none of them do not wait while they are read.
type keptCourses struct {
	mu  sync.Mutex
	all map[courseOfPool]keptCourse
}

// courseOfPool is which course of a pool.
type courseOfPool struct {
	pool string
	step time.Duration
}

// keptCourse is the course of a pool, and when it was read.
type keptCourse struct {
	history *api.PoolHistory
	at      time.Time
}

// How long courses are kept, and how many.
const (
	coursesAge  = time.Minute
	coursesMost = 2000
)

// PoolHistories are those of the source, as they were within the last minute.
func (s *shared) PoolHistories(ctx context.Context, pools []string, since time.Time, step time.Duration) ([]*api.PoolHistory, error) {
	k := &s.courses
	k.mu.Lock()
	defer k.mu.Unlock()
	var missing []string
	now := time.Now()
	for _, p := range pools {
		if c, known := k.all[courseOfPool{p, step}]; !known || now.Sub(c.at) > coursesAge {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		got, err := s.Source.PoolHistories(ctx, missing, since, step)
		if err != nil {
			return nil, err
		}
		if k.all == nil || len(k.all)+len(missing) > coursesMost {
			old := k.all
			k.all = map[courseOfPool]keptCourse{}
			for _, p := range pools { // those that are asked for stay
				if c, known := old[courseOfPool{p, step}]; known {
					k.all[courseOfPool{p, step}] = c
				}
			}
		}
		for i, p := range missing {
			k.all[courseOfPool{p, step}] = keptCourse{got[i], now}
		}
	}
	out := make([]*api.PoolHistory, len(pools))
	for i, p := range pools {
		out[i] = k.all[courseOfPool{p, step}].history
	}
	return out, nil
}

// sharedAge is how old they may be.
const (
	sharedAge  = time.Second
	sharedPart = 20
)

// Shares is that of the source. The answer is not to be changed.
func (s *shared) Shares(ctx context.Context, pool string) (*api.Shares, error) {
	all, err := s.all(ctx)
	if err != nil || pool == "" {
		return all, err
	}
	out := *all
	out.Pools = nil
	for _, p := range all.Pools {
		if share.Inside(p.Path, pool) {
			out.Pools = append(out.Pools, p)
		}
	}
	if len(out.Pools) == 0 {
		return nil, missing("no pool is called %.256q", pool)
	}
	return &out, nil
}

func (s *shared) all(ctx context.Context) (*api.Shares, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, began := s.Version(), time.Now()
	age := sharedAge
	if s.of != v {
		age = min(age, sharedPart*s.took)
	}
	if s.last != nil && began.Sub(s.last.At) < age {
		return s.last, nil
	}
	all, err := s.Source.Shares(ctx, "")
	if err == nil {
		s.last, s.of, s.took = all, v, time.Since(began)
	}
	return all, err
}
