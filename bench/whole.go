package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/postgres"
)

// path is the measurement of a whole program: jobs are submitted, chosen, given to a handler that does
// nothing, and ended.
type path struct {
	Name  string `json:"name"`
	Pools int    `json:"pools"`
	Mode  string `json:"mode"`
	// Jobs per second: the median, the minimum and the maximum of the rounds.
	PerSecond float64 `json:"per_second"`
	Least     float64 `json:"least"`
	Most      float64 `json:"most"`
	// Processor time per job, in microseconds.
	DatabaseCPU float64 `json:"database_cpu_us"`
	ClientCPU   float64 `json:"client_cpu_us"`
}

// The modes of a whole path.
const (
	workOff = "work off" // all jobs wait already; measured from the start of the program
	live    = "live"     // four callers submit, in batches of 100, while it works
)

// program is a program that can run jobs, with a store of its own in a schema of its own.
type program interface {
	submit(ctx context.Context, pools []int) error
	// work runs jobs until ctx ends; it calls done for each job that reaches a handler.
	work(ctx context.Context, slots int, done func()) error
	// ended counts the jobs that have ended for good.
	ended(ctx context.Context) (int, error)
	close()
}

type wholePath struct {
	db       *database
	plan     plan
	progress func(string, ...any)
	schemas  int
}

func (w *wholePath) run(ctx context.Context) ([]path, error) {
	programs := map[string]func(ctx context.Context, url, schema string) (program, error){
		"fairlead": openApp, "river": openClient,
	}
	type key struct {
		name, mode string
		pools      int
	}
	var keys []key
	for _, pools := range w.plan.Pools {
		for _, mode := range []string{workOff, live} {
			for _, name := range []string{"fairlead", "river"} {
				if w.plan.takesPart(name) {
					keys = append(keys, key{name, mode, pools})
				}
			}
		}
	}
	rounds := map[key]*entrant{}
	for n := range w.plan.Rounds {
		order := slices.Clone(keys)
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, k := range order {
			w.progress("whole path: %s, %d pools, %s, round %d of %d", k.name, k.pools, k.mode, n+1, w.plan.Rounds)
			w.schemas++
			p, err := programs[k.name](ctx, w.db.url, fmt.Sprint("whole_", w.schemas))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
			r, err := w.turn(ctx, p, k.mode, k.pools)
			p.close()
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", k.name, k.mode, err)
			}
			if rounds[k] == nil {
				rounds[k] = &entrant{}
			}
			rounds[k].rounds = append(rounds[k].rounds, r)
		}
	}
	var out []path
	for _, k := range keys {
		f := rounds[k].figure(condition{})
		out = append(out, path{k.name, k.pools, k.mode, f.PerSecond, f.Least, f.Most, f.DatabaseCPU, f.ClientCPU})
	}
	return out, nil
}

// turn takes the jobs of one turn through a program.
func (w *wholePath) turn(ctx context.Context, p program, mode string, pools int) (round, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	n := w.plan.Jobs
	if mode == workOff {
		if err := w.submitAll(ctx, p, pools, n, 1, 1000); err != nil {
			return round{}, err
		}
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var handled atomic.Int64
	enough, ended := make(chan struct{}), make(chan error, 1)
	began, database, client := time.Now(), w.db.cpu(), ownCPU()
	go func() {
		ended <- p.work(working, w.plan.Slots, func() {
			if int(handled.Add(1)) == n {
				close(enough)
			}
		})
	}()
	if mode == live {
		if err := w.submitAll(ctx, p, pools, n, 4, 100); err != nil {
			return round{}, err
		}
	}
	select {
	case <-enough:
	case err := <-ended:
		return round{}, fmt.Errorf("it ended early: %w", errors.Join(err, ctx.Err()))
	}
	if err := await(ctx, p, n); err != nil {
		return round{}, err
	}
	wall := time.Since(began).Seconds()
	r := round{float64(n) / wall, (w.db.cpu() - database).Seconds() * 1e6 / float64(n), (ownCPU() - client).Seconds() * 1e6 / float64(n)}
	stop()
	return r, <-ended
}

// await waits until all jobs have ended in the database, too.
func await(ctx context.Context, p program, n int) error {
	for {
		done, err := p.ended(ctx)
		if err != nil || done >= n {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d of %d jobs have ended: %w", done, n, ctx.Err())
		}
	}
}

func (w *wholePath) submitAll(ctx context.Context, p program, pools, n, callers, batch int) error {
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for c := range callers {
		rng := rand.New(rand.NewPCG(uint64(c), uint64(n)))
		wg.Go(func() {
			for i := c * batch; i < n && errs[c] == nil; i += callers * batch {
				errs[c] = p.submit(ctx, pick(rng, pools, min(batch, n-i)))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// app is a program with fairlead's App.
type app struct {
	store  *postgres.Store
	app    *fairlead.App
	schema string
}

func openApp(ctx context.Context, url, schema string) (program, error) {
	s, err := postgres.Open(ctx, url, postgres.Options{Schema: schema})
	if err != nil {
		return nil, err
	}
	return &app{store: s, schema: schema}, nil
}

func (a *app) submit(ctx context.Context, pools []int) error {
	jobs := make([]fairlead.Job, len(pools))
	for i, p := range pools {
		jobs[i] = fairlead.Job{User: poolName(p), Args: payload{"cat.jpg", 640}}
	}
	_, err := fairlead.NewClient(a.store, fairlead.DefaultShares()).Submit(ctx, jobs...)
	return err
}

func (a *app) work(ctx context.Context, slots int, done func()) error {
	app, err := fairlead.New(ctx, a.store, fairlead.Options{Slots: slots})
	if err != nil {
		return err
	}
	fairlead.Handle(app, func(context.Context, *fairlead.Work[payload]) error { done(); return nil })
	return app.Run(ctx)
}

func (a *app) ended(ctx context.Context) (int, error) {
	accounts, err := a.store.Usage(ctx)
	n := 0
	for _, p := range accounts.Pools {
		n += int(p.Ended)
	}
	return n, err
}

func (a *app) close() { a.store.Close() }

// client is a program with River's Client.
type client struct {
	*riverQueue
	url string
}

func openClient(ctx context.Context, url, schema string) (program, error) {
	q, err := openRiver(ctx, url, schema)
	if err != nil {
		return nil, err
	}
	return &client{riverQueue: q.(*riverQueue), url: url}, nil
}

// worker does nothing.
type worker struct {
	river.WorkerDefaults[riverArgs]
	done func()
}

func (w *worker) Work(context.Context, *river.Job[riverArgs]) error { w.done(); return nil }

// work lets River fetch at its shortest interval, where it is fastest.
func (c *client) work(ctx context.Context, slots int, done func()) error {
	return runRiver(ctx, c.riverQueue, done, river.QueueConfig{MaxWorkers: slots, FetchCooldown: river.FetchCooldownMin, FetchPollInterval: 10 * time.Millisecond})
}

func runRiver(ctx context.Context, q *riverQueue, done func(), config river.QueueConfig) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{done: done})
	c, err := river.NewClient(riverpgxv5.New(q.pool), &river.Config{
		Schema: q.schema, Logger: silent(), Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: config},
	})
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return c.Stop(stopping)
}

func (c *client) ended(ctx context.Context) (n int, err error) {
	err = c.pool.QueryRow(ctx, `SELECT count(*) FROM `+pgx.Identifier{c.schema}.Sanitize()+`.river_job WHERE state = 'completed'`).Scan(&n)
	return n, err
}

func (r *report) paths() *table {
	t := &table{title: "The whole path, a handler that does nothing: jobs per second", head: []string{"pools", "mode", "fairlead", "River", "of River", "µs database + client, fairlead", "River"}}
	at := map[[3]string]path{}
	for _, p := range r.Whole {
		at[[3]string{p.Name, p.Mode, fmt.Sprint(p.Pools)}] = p
	}
	for _, pools := range r.Plan.Pools {
		for _, mode := range []string{workOff, live} {
			ours, theirs := at[[3]string{"fairlead", mode, fmt.Sprint(pools)}], at[[3]string{"river", mode, fmt.Sprint(pools)}]
			show := func(p path) string { return speed(figure{PerSecond: p.PerSecond, Least: p.Least, Most: p.Most}) }
			cost := func(p path) string { return fmt.Sprintf("%.0f + %.0f", p.DatabaseCPU, p.ClientCPU) }
			t.row(thousands(float64(pools)), mode, show(ours), show(theirs), ratio(ours.PerSecond, theirs.PerSecond), cost(ours), cost(theirs))
		}
	}
	t.notes = append(t.notes,
		fmt.Sprintf("%s jobs, %d at once. fairlead: App with the policy fair; River: Client with one queue, fetching every millisecond (as often as it may), its own completer.", thousands(float64(r.Plan.Jobs)), r.Plan.Slots),
		workOff+": all wait already, the program begins. "+live+": four submit, 100 jobs a call, while it works.")
	return t
}
