package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/postgres"
)

// latency is the time on an idle system from the call that submits a job to the beginning of its handler.
type latency struct {
	Name    string  `json:"name"`
	Median  float64 `json:"p50_ms"`
	Slowest float64 `json:"p99_ms"`
	Samples int     `json:"samples"`
}

// idler is a program that waits for single jobs.
type idler struct {
	name   string
	submit func(context.Context) error
	begun  chan time.Time
	took   []float64 // ms
}

// latencies measures idle programs in turn. Each has its default settings.
func latencies(ctx context.Context, db *database, p plan, progress func(string, ...any)) (out []latency, err error) {
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 2)
	alone := 0
	defer func() {
		stop()
		for range alone {
			err = errors.Join(err, <-ended)
		}
	}()
	var all []*idler
	for _, open := range []func(context.Context, *database, chan<- error) ([]*idler, error){idleApp, idleRiver} {
		more, err := open(running, db, ended)
		if err != nil {
			return nil, err
		}
		alone++
		all = append(all, more...)
	}
	for n := -3; n < p.Samples; n++ { // the first three warm up
		progress("latency, %d of %d", max(n, 0)+1, p.Samples)
		for _, i := range rand.Perm(len(all)) {
			if err := all[i].sample(ctx, n >= 0); err != nil {
				return nil, fmt.Errorf("%s: %w", all[i].name, err)
			}
		}
	}
	for _, a := range all {
		slices.Sort(a.took)
		out = append(out, latency{a.name, middle(a.took), a.took[(len(a.took)*99+99)/100-1], len(a.took)})
	}
	return out, nil
}

// sample submits a job to a program that has been idle for a while.
func (a *idler) sample(ctx context.Context, counts bool) error {
	select {
	case <-time.After(30*time.Millisecond + rand.N(60*time.Millisecond)):
	case <-ctx.Done():
		return ctx.Err()
	}
	began := time.Now()
	if err := a.submit(ctx); err != nil {
		return err
	}
	select {
	case at := <-a.begun:
		if counts {
			a.took = append(a.took, float64(at.Sub(began).Microseconds())/1000)
		}
		return nil
	case <-time.After(time.Minute):
		return errors.New("the job does not start")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// idleApp returns fairlead's App, which gets jobs from its own program and from another one.
func idleApp(ctx context.Context, db *database, ended chan<- error) ([]*idler, error) {
	own, err := openApp(ctx, db.url, "idle")
	if err != nil {
		return nil, err
	}
	other, err := postgres.Open(ctx, db.url, postgres.Options{Schema: "idle"})
	if err != nil {
		return nil, err
	}
	begun := make(chan time.Time, 1)
	go func() {
		err := own.work(ctx, 10, func() { begun <- time.Now() })
		other.Close()
		own.close()
		ended <- err
	}()
	client := fairlead.NewClient(other, fairlead.DefaultShares())
	return []*idler{
		{name: "fairlead, from its own program", begun: begun, submit: func(ctx context.Context) error { return own.submit(ctx, []int{0}) }},
		{name: "fairlead, from another program", begun: begun, submit: func(ctx context.Context) error {
			_, err := client.Submit(ctx, fairlead.Job{User: poolName(0), Args: payload{"cat.jpg", 640}})
			return err
		}},
	}, nil
}

// idleRiver returns River's Client, for which the submitting program makes no difference.
func idleRiver(ctx context.Context, db *database, ended chan<- error) ([]*idler, error) {
	opened, err := openRiver(ctx, db.url, "idle_river")
	if err != nil {
		return nil, err
	}
	q := opened.(*riverQueue)
	begun := make(chan time.Time, 1)
	go func() {
		err := runRiver(ctx, q, func() { begun <- time.Now() }, river.QueueConfig{MaxWorkers: 10})
		q.close()
		ended <- err
	}()
	return []*idler{{name: "river", begun: begun, submit: func(ctx context.Context) error { return q.submit(ctx, []int{0}) }}}, nil
}

func (r *report) latencies() *table {
	t := &table{title: "From the call that submits to the beginning of the handler, on an idle system", head: []string{"", "p50", "p99", "samples"}}
	for _, l := range r.Latency {
		t.row(l.Name, fmt.Sprintf("%.1f ms", l.Median), fmt.Sprintf("%.1f ms", l.Slowest), fmt.Sprint(l.Samples))
	}
	return t
}
