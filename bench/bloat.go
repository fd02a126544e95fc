package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead/store/postgres"
)

// bloat takes many jobs through a store that soon forgets ended jobs, as a server with a retention does. It
// watches the sizes of the tables, which must not grow with the total number of jobs.
type bloat struct {
	jobs, every, kept int
	out               io.Writer

	store *postgres.Store
	pool  *pgxpool.Pool
	done  atomic.Int64
	first int64 // bytes, after the tables had reached their size
	last  int64
}

const bloatSchema = "bloat"

// The tables first reach their normal size, because changes are kept for two minutes and vacuum runs only
// from time to time. After that they may grow up to a bound.
const (
	settled = 3 * time.Minute
	bound   = 1.5
)

func (b *bloat) run(ctx context.Context, db *database) (err error) {
	q, err := openFairlead(ctx, db.url, bloatSchema)
	if err != nil {
		return err
	}
	defer q.close()
	b.store = q.(*fairleadQueue).store
	if b.pool, err = pgxpool.New(ctx, db.url); err != nil {
		return err
	}
	defer b.pool.Close()
	if err := fill(ctx, q, 1000, 10_000); err != nil {
		return err
	}
	forgetting, stop := context.WithCancel(ctx)
	forgotten := make(chan error, 1)
	go func() { forgotten <- b.forget(forgetting) }()
	defer func() {
		stop()
		err = errors.Join(err, <-forgotten)
	}()
	start := time.Now()
	for done := 0; done < b.jobs; {
		n := min(b.every, b.jobs-done)
		began := time.Now()
		if err := b.part(ctx, q, n); err != nil {
			return err
		}
		done += n
		fmt.Fprintf(b.out, "\n%s jobs, %s/s, load %s\n", thousands(float64(done)), thousands(float64(n)/time.Since(began).Seconds()), load())
		if err := b.sizes(ctx); err != nil {
			return err
		}
		if b.first == 0 && time.Since(start) > settled {
			b.first = b.last
		}
	}
	if b.first == 0 {
		fmt.Fprintf(b.out, "\nthis took %v; whether tables stay small shows after %v\n", time.Since(start).Round(time.Second), settled)
		return nil
	}
	growth := float64(b.last) / float64(b.first)
	fmt.Fprintf(b.out, "\nat the end %.2f of the size that they had after %v\n", growth, settled)
	if growth > bound {
		return fmt.Errorf("the tables grow with the number of jobs: to %.2f of their size, at most %.1f is allowed", growth, bound)
	}
	return nil
}

// part takes n jobs through the store with four claimers.
func (b *bloat) part(ctx context.Context, q measured, n int) error {
	const batch, claimers = 500, 4
	var left atomic.Int64
	left.Store(int64(n))
	errs := make([]error, claimers)
	var wg sync.WaitGroup
	for w := range claimers {
		rng := rand.New(rand.NewPCG(uint64(w), uint64(n)))
		wg.Go(func() {
			for errs[w] == nil && left.Add(-batch) > -batch {
				var some int
				some, errs[w] = cycle(ctx, q, pick(rng, 1000, batch))
				b.done.Add(int64(some))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// forget does the work of a server's retention: it removes the jobs that ended before the last kept ones.
func (b *bloat) forget(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	type mark struct {
		at   time.Time
		jobs int64
	}
	var marks []mark
	for {
		select {
		case at := <-tick.C:
			marks = append(marks, mark{at, b.done.Load()})
		case <-ctx.Done():
			return nil
		}
		before := time.Time{}
		for len(marks) > 0 && marks[0].jobs < b.done.Load()-int64(b.kept) {
			before, marks = marks[0].at, marks[1:]
		}
		if before.IsZero() {
			continue
		}
		if _, err := b.store.Forget(ctx, before); err != nil && ctx.Err() == nil {
			return fmt.Errorf("forget: %w", err)
		}
	}
}

// sizes prints the sizes of the tables and indexes of the schema, if they are not tiny.
func (b *bloat) sizes(ctx context.Context) error {
	rows, err := b.pool.Query(ctx, `SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid), s.n_live_tup, s.n_dead_tup
		FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid WHERE c.relnamespace = $1::text::regnamespace AND c.relkind = 'r'
		ORDER BY pg_total_relation_size(c.oid) DESC`, bloatSchema)
	if err != nil {
		return err
	}
	defer rows.Close()
	t := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "table\tkB\tindexes kB\tlive rows\tdead rows\t")
	b.last = 0
	for rows.Next() {
		var name string
		var size, indexes, live, dead int64
		if err := rows.Scan(&name, &size, &indexes, &live, &dead); err != nil {
			return err
		}
		if b.last += size + indexes; size+indexes >= 64<<10 {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t\n", name, thousands(float64(size>>10)), thousands(float64(indexes>>10)), thousands(float64(live)), thousands(float64(dead)))
		}
	}
	fmt.Fprintf(t, "all\t%s\t\t\t\t\n", thousands(float64(b.last>>10)))
	return errors.Join(rows.Err(), t.Flush())
}
