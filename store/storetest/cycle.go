package storetest

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
)

// Cycle takes n jobs through their life in one call each: submitted, leased and
// finished. It is what throughput is measured by.
func Cycle(ctx context.Context, s fairlead.Store, n int, job func(i int) *fairlead.Job) error {
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		jobs[i] = job(i)
	}
	subs, err := s.Submit(ctx, jobs)
	if err != nil {
		return err
	}
	wants := make([]fairlead.Want, n)
	for i, sub := range subs {
		wants[i].Job = sub.ID
	}
	grants, err := s.Lease(ctx, "bench", wants, time.Minute)
	if err != nil {
		return err
	}
	results := make([]fairlead.Result, n)
	for i, g := range grants {
		results[i] = fairlead.Result{Ref: g.Lease.Ref, Outcome: fairlead.Outcome{State: fairlead.Succeeded}}
	}
	_, err = s.Finish(ctx, results)
	return err
}
