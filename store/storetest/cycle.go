package storetest

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Cycle takes n jobs through their life in one call each: submitted, leased and finished. It measures throughput.
func Cycle(ctx context.Context, s queue.Store, n int, job func(i int) *queue.Job) error {
	jobs := make([]*queue.Job, n)
	for i := range jobs {
		jobs[i] = job(i)
	}
	subs, err := s.Submit(ctx, jobs)
	if err != nil {
		return err
	}
	wants := make([]queue.Want, n)
	for i, sub := range subs {
		wants[i].Job = sub.ID
	}
	grants, err := s.Lease(ctx, "bench", wants, time.Minute)
	if err != nil {
		return err
	}
	results := make([]queue.Result, n)
	for i, g := range grants {
		results[i] = queue.Result{Ref: g.Lease.Ref, Outcome: queue.Outcome{State: queue.Succeeded}}
	}
	_, err = s.Finish(ctx, results)
	return err
}
