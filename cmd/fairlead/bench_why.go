package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bench"
	"github.com/fairlead/fairlead/sched"
)

// questions is how often each is asked; what is told is the time that half of them take at
// most.
const questions = 41

// whyAmong measures what why takes among so many jobs that wait, through a server: without an
// estimate, with one when the timetable has been made, and the first, for which it has not.
func (b *benchCmd) whyAmong(ctx context.Context, dir, policy string, waiting int) ([]bench.Result, error) {
	c := config.Default()
	c.Shares.Sched.Root.Policy, c.Shares.Sched.Placement = policy, sched.EASY
	x, client, stop, err := b.quietServer(ctx, filepath.Join(dir, "why-"+policy), c)
	if err != nil {
		return nil, err
	}
	defer stop()
	rng := rand.New(rand.NewPCG(1, 1))
	ids, err := manyWait(ctx, client, waiting, rng)
	if err != nil {
		return nil, err
	}
	for x.loop.Stats().Started == 0 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		time.Sleep(5 * time.Millisecond)
	}
	var out []bench.Result
	for _, q := range []struct {
		name, goal string
		o          fairlead.WhyOptions
		times      int
		pause      time.Duration
	}{
		{"answers of why", "", fairlead.WhyOptions{Siblings: 10}, 1, 0},
		{"answers of why", ">= 100/s", fairlead.WhyOptions{Siblings: 10}, questions, 0},
		{"answers with an estimate", "", fairlead.WhyOptions{Siblings: 10, Estimate: true}, 1, 12 * time.Second},
		{"answers with an estimate", ">= 5/s", fairlead.WhyOptions{Siblings: 10, Estimate: true}, questions, 0},
	} {
		half, told, err := b.askWhy(ctx, client, ids, q.o, q.times, rng)
		if err != nil {
			return nil, err
		}
		detail := fmt.Sprintf("%s with easy, %d waiting, %s each", policy, waiting, half.Round(100*time.Microsecond))
		if q.o.Estimate && q.times > 1 {
			detail += fmt.Sprintf(", %d%% told when", told)
		}
		if q.times == 1 {
			detail += ", the first"
		}
		out = append(out, bench.Result{Name: q.name, Detail: detail, PerSecond: 1 / half.Seconds(), Goal: q.goal})
		time.Sleep(q.pause)
	}
	return out, nil
}

// askWhy asks about jobs in all places, and returns what half of the answers took at most, and
// how many in a hundred told when the job starts.
func (b *benchCmd) askWhy(ctx context.Context, client *api.Client, ids []int64, o fairlead.WhyOptions, times int, rng *rand.Rand) (time.Duration, int, error) {
	var took []time.Duration
	told := 0
	for range times {
		began := time.Now()
		a, err := client.Why(ctx, ids[rng.IntN(len(ids))], o)
		if err != nil {
			return 0, 0, err
		}
		if took = append(took, time.Since(began)); a.Start != nil && a.Start.By != nil {
			told++
		}
	}
	slices.Sort(took)
	return took[len(took)/2], 100 * told / times, nil
}

// manyWait submits so many jobs of a hundred pools, of several sizes and time limits.
func manyWait(ctx context.Context, client *api.Client, n int, rng *rand.Rand) (ids []int64, err error) {
	limits := []float64{60, 120, 240, 600, 1800}
	const size = 2000
	for len(ids) < n {
		specs := make([]api.Spec, min(size, n-len(ids)))
		for i := range specs {
			specs[i] = api.Spec{
				Argv: []string{"/bin/sleep", "3600"}, Pool: fmt.Sprint("pool", rng.IntN(100)),
				Request: map[string]int64{"cpu": 1 << rng.IntN(5)}, LimitSeconds: limits[rng.IntN(len(limits))],
			}
		}
		r, err := client.Submit(ctx, api.SubmitRequest{Jobs: specs})
		if err != nil {
			return nil, err
		}
		for i := range r.Jobs {
			if err := r.Jobs[i].Error.Err(); err != nil {
				return nil, err
			}
			ids = append(ids, r.Jobs[i].ID)
		}
	}
	return ids, nil
}
