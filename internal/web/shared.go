package web

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// shared reads the pools once for all pages that are requested within a moment. Thousands of pools take
// longer than the rest of a page, and the scheduler has to wait meanwhile. While changes never stop, the
// pools may be up to sharedPart times as old as the time to read them.
type shared struct {
	PoolSource
	version func() uint64

	mu   sync.Mutex
	last *api.Shares
	of   uint64
	took time.Duration

	series cachedSeries
	waited keptWaits
	report sync.Mutex // held while a report is made
}

// Past makes one report at a time, because a report reads all jobs of its period.
func (s *shared) Past(ctx context.Context, a account.Ask, shares bool) (*api.PastReport, error) {
	if !s.report.TryLock() {
		return nil, &queue.Invalid{Field: "report", Msg: "another report is being made; try again in some seconds"}
	}
	defer s.report.Unlock()
	return s.PoolSource.Past(ctx, a, shares)
}

// cachedSeries holds the time series of pools, which change slowly. It has a lock of its own, so that pages
// without time series do not wait for them.
type cachedSeries struct {
	mu  sync.Mutex
	all map[seriesKey]cachedHistory
}

// seriesKey names a time series of a pool.
type seriesKey struct {
	pool string
	step time.Duration
}

// cachedHistory is the history of a pool, and the instant at which it was read.
type cachedHistory struct {
	history *api.PoolHistory
	at      time.Time
}

// The maximum age of cached time series, and their maximum number.
const (
	seriesAge = time.Minute
	maxSeries = 2000
)

// Histories returns the histories of the source, at most a minute old.
func (s *shared) Histories(ctx context.Context, pools []string, since time.Time,
	step time.Duration) ([]*api.PoolHistory, error) {
	k := &s.series
	k.mu.Lock()
	defer k.mu.Unlock()
	var missing []string
	now := time.Now()
	for _, p := range pools {
		if c, known := k.all[seriesKey{p, step}]; !known || now.Sub(c.at) > seriesAge {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		got, err := s.PoolSource.Histories(ctx, missing, since, step)
		if err != nil {
			return nil, err
		}
		if k.all == nil || len(k.all)+len(missing) > maxSeries {
			old := k.all
			k.all = map[seriesKey]cachedHistory{}
			for _, p := range pools { // the requested ones stay
				if c, known := old[seriesKey{p, step}]; known {
					k.all[seriesKey{p, step}] = c
				}
			}
		}
		for i, p := range missing {
			k.all[seriesKey{p, step}] = cachedHistory{got[i], now}
		}
	}
	out := make([]*api.PoolHistory, len(pools))
	for i, p := range pools {
		out[i] = k.all[seriesKey{p, step}].history
	}
	return out, nil
}

// sharedAge is the maximum age of shared pools.
const sharedAge = time.Second

// Shares returns the pools of the source, possibly cached. Callers must not change the answer.
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
		return nil, missing("there is no pool %.256q", pool)
	}
	return &out, nil
}

func (s *shared) all(ctx context.Context) (*api.Shares, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, began := s.version(), time.Now()
	age := sharedAge
	if s.of != v {
		age = min(age, sharedPart*s.took)
	}
	if s.last != nil && began.Sub(s.last.At) < age {
		return s.last, nil
	}
	all, err := s.PoolSource.Shares(ctx, "")
	if err == nil {
		s.last, s.of, s.took = all, v, time.Since(began)
	}
	return all, err
}

// Waits returns the waits of the source, possibly cached; nil until there are some.
func (s *shared) Waits(ctx context.Context, a account.Ask, steps []time.Duration, most int) (*account.Waits, error) {
	k := &s.waited
	of := whose{a.Pool, a.User}
	ready := k.begin(of, func() (*account.Waits, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), waitsLongest)
		defer cancel()
		w, err := s.PoolSource.Waits(ctx, a, steps, most)
		if err != nil {
			return nil, fmt.Errorf("summarize waits: %w", err)
		}
		return w, nil
	})
	if ready != nil {
		over := time.NewTimer(waitsPatience)
		defer over.Stop()
		select {
		case <-ready:
		case <-over.C:
		case <-ctx.Done():
		}
	}
	return k.known(of)
}
