package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// riverArgs are the arguments of River's jobs. River has no pools: all jobs are in one queue.
type riverArgs struct {
	payload
	Customer string `json:"customer"`
}

// riverQueue calls River's statements as its own client does, without the rest of the client.
type riverQueue struct {
	pool   *pgxpool.Pool
	schema string
	client *river.Client[pgx.Tx]
	exec   riverdriver.Executor
}

// riverPool makes River's tables in a schema.
func riverPool(ctx context.Context, url, schema string) (*pgxpool.Pool, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
		return pool, err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: schema, Logger: silent()})
	if err != nil {
		return pool, err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return pool, err
}

func openRiver(ctx context.Context, url, schema string) (measured, error) {
	pool, err := riverPool(ctx, url, schema)
	if err != nil {
		return nil, err
	}
	driver := riverpgxv5.New(pool)
	client, err := river.NewClient(driver, &river.Config{Schema: schema, Logger: silent()})
	return &riverQueue{pool: pool, schema: schema, client: client, exec: driver.GetExecutor()}, err
}

func (r *riverQueue) submit(ctx context.Context, pools []int) error {
	return riverSubmit(ctx, r.client, pools)
}

// riverSubmit inserts jobs in the fastest way that River has for their number.
func riverSubmit(ctx context.Context, client *river.Client[pgx.Tx], pools []int) error {
	args := func(p int) riverArgs { return riverArgs{payload{"cat.jpg", 640}, poolName(p)} }
	if len(pools) == 1 {
		_, err := client.Insert(ctx, args(pools[0]), nil)
		return err
	}
	jobs := make([]river.InsertManyParams, len(pools))
	for i, p := range pools {
		jobs[i].Args = args(p)
	}
	_, err := client.InsertManyFast(ctx, jobs)
	return err
}

func (r *riverQueue) claim(ctx context.Context, most int) (int, func(context.Context) error, error) {
	got, err := r.exec.JobGetAvailable(ctx, &riverdriver.JobGetAvailableParams{
		ClientID: "bench", MaxAttemptedBy: 100, MaxToLock: most, Queue: river.QueueDefault, Schema: r.schema,
	})
	if err != nil {
		return 0, nil, err
	}
	now := time.Now()
	n := len(got.Jobs)
	end := &riverdriver.JobSetStateIfRunningManyParams{
		ID: make([]int64, n), Attempt: make([]*int, n), ErrData: make([][]byte, n), FinalizedAt: make([]*time.Time, n),
		MetadataDoMerge: make([]bool, n), MetadataUpdates: make([][]byte, n), ScheduledAt: make([]*time.Time, n),
		State: make([]rivertype.JobState, n), Schema: r.schema,
	}
	for i, j := range got.Jobs {
		end.ID[i], end.FinalizedAt[i], end.State[i] = j.ID, &now, rivertype.JobStateCompleted
	}
	return n, func(ctx context.Context) error {
		rows, err := r.exec.JobSetStateIfRunningMany(ctx, end)
		if err == nil && len(rows) != n {
			err = fmt.Errorf("river ended %d jobs of %d", len(rows), n)
		}
		return err
	}, nil
}

func (r *riverQueue) close() { r.pool.Close() }
