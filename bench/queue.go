package main

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// measured is a queue in PostgreSQL, called as its own program calls it.
type measured interface {
	// submit adds a job for each of the pools, in one call, and returns when they are durable.
	submit(ctx context.Context, pools []int) error
	// claim takes at most "most" waiting jobs in one call. The returned function ends the taken jobs with success, in
	// one call.
	claim(ctx context.Context, most int) (n int, end func(context.Context) error, err error)
	close()
}

// contestant is one way to keep jobs.
type contestant struct {
	name string
	// about describes its calls.
	about string
	open  func(ctx context.Context, url, schema string) (measured, error)
}

// contestants lists all contestants, first the one that this benchmark is about.
var contestants = []contestant{
	{"fairlead", "Store.Submit, Store.Lease of jobs that were chosen before, Store.Finish; keeps what ended", openFairlead},
	{"river", "InsertManyFast (COPY; Insert for one job), the driver's JobGetAvailable as its producers call it, JobSetStateIfRunningMany as its completer does; keeps what ended", openRiver},
	{"bare", "one table, INSERT of arrays, UPDATE of the oldest with FOR UPDATE SKIP LOCKED, UPDATE to done; keeps what ended", openBare(keepDone)},
	{"bare-delete", "the same, but what ended is deleted: nobody can ask for it", openBare(deleteDone)},
}

// payload is the payload of every job.
type payload struct {
	Image string `json:"image"`
	Width int    `json:"width"`
}

// Kind names the jobs, for fairlead and for River.
func (payload) Kind() string { return "thumbnail" }

func poolName(i int) string { return fmt.Sprint("customer-", i) }

// pick draws the pools of some jobs: nine in ten jobs are in the first pool.
func pick(rng *rand.Rand, pools, n int) []int {
	out := make([]int, n)
	for i := range out {
		if pools > 1 && rng.IntN(10) == 0 {
			out[i] = 1 + rng.IntN(pools-1)
		}
	}
	return out
}

// fill takes a job of every pool through its life, so that all pools are known, and adds the jobs that wait
// during the measurements.
func fill(ctx context.Context, q measured, pools, n int) error {
	const batch = 1000
	for first := 0; first < pools; first += batch {
		jobs := make([]int, min(batch, pools-first))
		for i := range jobs {
			jobs[i] = first + i
		}
		if _, err := cycle(ctx, q, jobs); err != nil {
			return err
		}
	}
	rng := rand.New(rand.NewPCG(1, uint64(pools)))
	for done := 0; done < n; done += batch {
		if err := q.submit(ctx, pick(rng, pools, min(batch, n-done))); err != nil {
			return err
		}
	}
	return nil
}
