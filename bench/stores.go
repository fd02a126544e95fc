package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// condition holds the varied parameters.
type condition struct {
	Batch    int `json:"batch"`
	Claimers int `json:"claimers"`
}

// figure is the measurement of one contestant under one condition.
type figure struct {
	Name  string `json:"name"`
	Pools int    `json:"pools"`
	condition
	PerSecond float64 `json:"per_second"` // median of the rounds
	Least     float64 `json:"least"`
	Most      float64 `json:"most"`
	// Processor time per job, in microseconds: at the database, and in this process.
	DatabaseCPU float64 `json:"database_cpu_us"`
	ClientCPU   float64 `json:"client_cpu_us"`
}

// entrant is a contestant with a number of pools and waiting jobs.
type entrant struct {
	contestant
	measured
	pools  int
	rounds []round
}

// round is the result of one turn.
type round struct {
	perSecond, database, client float64
}

// stores measures submit, lease, finish by the calls of stores.
type stores struct {
	db       *database
	plan     plan
	progress func(string, ...any)
}

func (s *stores) run(ctx context.Context) ([]figure, error) {
	entrants, err := s.enter(ctx)
	defer func() {
		for _, e := range entrants {
			e.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	var out []figure
	for _, batch := range s.plan.Batches {
		for _, claimers := range s.plan.Claimers {
			c := condition{batch, claimers}
			figures, err := s.compare(ctx, entrants, c)
			if err != nil {
				return nil, err
			}
			out = append(out, figures...)
		}
	}
	return out, nil
}

// enter opens and fills the entrants: every contestant with every number of pools.
func (s *stores) enter(ctx context.Context) (entrants []*entrant, err error) {
	waiting := s.plan.Waiting
	for _, pools := range s.plan.Pools {
		for _, c := range contestants {
			if !s.plan.takesPart(c.name) {
				continue
			}
			s.progress("%s: %d jobs of %d pools", c.name, waiting, pools)
			schema := fmt.Sprintf("%s_%d", strings.ReplaceAll(c.name, "-", "_"), pools)
			q, err := c.open(ctx, s.db.url, schema)
			if q != nil {
				entrants = append(entrants, &entrant{contestant: c, measured: q, pools: pools})
			}
			if err == nil {
				err = fill(ctx, q, pools, waiting)
			}
			if err != nil {
				return entrants, fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return entrants, nil
}

// compare lets the entrants take turns, in a random order for each round.
func (s *stores) compare(ctx context.Context, entrants []*entrant, c condition) ([]figure, error) {
	for _, e := range entrants {
		e.rounds = nil
	}
	for n := range s.plan.Rounds {
		s.progress("batches of %d, %d claimers, round %d of %d", c.Batch, c.Claimers, n+1, s.plan.Rounds)
		order := slices.Clone(entrants)
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, e := range order {
			r, err := s.turn(ctx, e, c)
			if err != nil {
				return nil, fmt.Errorf("%s, %d pools, batches of %d: %w", e.name, e.pools, c.Batch, err)
			}
			e.rounds = append(e.rounds, r)
		}
	}
	var out []figure
	for _, e := range entrants {
		out = append(out, e.figure(c))
	}
	return out, nil
}

func (e *entrant) figure(c condition) figure {
	of := func(f func(round) float64) []float64 {
		var all []float64
		for _, r := range e.rounds {
			all = append(all, f(r))
		}
		slices.Sort(all)
		return all
	}
	speed := of(func(r round) float64 { return r.perSecond })
	return figure{
		Name: e.name, Pools: e.pools, condition: c, PerSecond: middle(speed), Least: speed[0], Most: speed[len(speed)-1],
		DatabaseCPU: middle(of(func(r round) float64 { return r.database })), ClientCPU: middle(of(func(r round) float64 { return r.client })),
	}
}

// middle returns the median of sorted numbers.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// turn lets the claimers of one entrant work for a while. Each submits a batch, claims a batch and ends it,
// again and again, so that the number of waiting jobs stays the same.
func (s *stores) turn(ctx context.Context, e *entrant, c condition) (round, error) {
	runtime.GC()
	var jobs atomic.Int64
	errs := make([]error, c.Claimers)
	var wg sync.WaitGroup
	began, database, client := time.Now(), s.db.cpu(), ownCPU()
	until := began.Add(s.plan.Turn)
	for w := range c.Claimers {
		rng := rand.New(rand.NewPCG(uint64(w), uint64(began.UnixNano())))
		wg.Go(func() {
			for again := true; again && errs[w] == nil; again = time.Now().Before(until) {
				var n int
				n, errs[w] = cycle(ctx, e, pick(rng, e.pools, c.Batch))
				jobs.Add(int64(n))
			}
		})
	}
	wg.Wait()
	n := float64(jobs.Load())
	r := round{perSecond: n / time.Since(began).Seconds()}
	r.database, r.client = (s.db.cpu()-database).Seconds()*1e6/n, (ownCPU()-client).Seconds()*1e6/n
	return r, errors.Join(errs...)
}

// cycle takes a batch of jobs through their life.
func cycle(ctx context.Context, q measured, pools []int) (int, error) {
	if err := q.submit(ctx, pools); err != nil {
		return 0, fmt.Errorf("submit: %w", err)
	}
	n, end, err := q.claim(ctx, len(pools))
	if err != nil {
		return 0, fmt.Errorf("claim: %w", err)
	}
	if err := end(ctx); err != nil {
		return 0, fmt.Errorf("finish: %w", err)
	}
	return n, nil
}
