package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// fairleadQueue calls a store like a server that has already decided: it takes jobs in the order in which
// they came.
type fairleadQueue struct {
	store   *postgres.Store
	stop    context.CancelFunc
	expired chan error

	mu  sync.Mutex
	ids []int64 // waiting jobs
}

func openFairlead(ctx context.Context, url, schema string) (measured, error) {
	s, err := postgres.Open(ctx, url, postgres.Options{Schema: schema})
	if err != nil {
		return nil, err
	}
	f := &fairleadQueue{store: s, expired: make(chan error, 1)}
	ctx, f.stop = context.WithCancel(ctx)
	go func() { f.expired <- f.expire(ctx) }()
	return f, nil
}

// expire looks for expired leases at the interval of a server.
func (f *fairleadQueue) expire(ctx context.Context) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if _, err := f.store.Expire(ctx, ""); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func (f *fairleadQueue) submit(ctx context.Context, pools []int) error {
	args, err := json.Marshal(payload{"cat.jpg", 640})
	if err != nil {
		return err
	}
	jobs := make([]*fairlead.Job, len(pools))
	for i, p := range pools {
		jobs[i] = &fairlead.Job{User: poolName(p), Pool: poolName(p), Kind: payload{}.Kind(), Priority: "normal", Payload: args}
	}
	subs, err := f.store.Submit(ctx, jobs)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range subs {
		if s.Err != nil {
			return s.Err
		}
		f.ids = append(f.ids, s.ID)
	}
	return nil
}

func (f *fairleadQueue) take(most int) []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(most, len(f.ids))
	ids := f.ids[:n:n]
	f.ids = f.ids[n:]
	return ids
}

func (f *fairleadQueue) claim(ctx context.Context, most int) (int, func(context.Context) error, error) {
	ids := f.take(most)
	wants := make([]queue.Want, len(ids))
	for i, id := range ids {
		wants[i].Job = id
	}
	grants, err := f.store.Lease(ctx, "bench", wants, time.Minute)
	if err != nil {
		return 0, nil, err
	}
	results := make([]queue.Result, len(grants))
	for i, g := range grants {
		if g.Lease == nil {
			return 0, nil, fmt.Errorf("job %d was not leased", ids[i])
		}
		results[i] = queue.Result{Ref: g.Lease.Ref, Outcome: fairlead.Outcome{State: fairlead.Succeeded}}
	}
	return len(results), func(ctx context.Context) error {
		verdicts, err := f.store.Finish(ctx, results)
		for _, v := range verdicts {
			err = errors.Join(err, v.Err)
		}
		return err
	}, nil
}

func (f *fairleadQueue) close() {
	f.stop()
	if err := <-f.expired; err != nil {
		fmt.Fprintln(os.Stderr, "expire:", err)
	}
	f.store.Close()
}
