package history

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/share"
)

// Outcome summarizes a replay under some shares.
type Outcome struct {
	Utilisation float64 // of the machine, within the window
	Jain        float64 // Jain's index of the service of each user, divided by its entitlement
	Never       int     // tasks that never start; they are in none of the pools
	Pools       map[string]PoolOutcome
}

// PoolOutcome summarizes a top-level pool, with all pools below it.
type PoolOutcome struct {
	Tasks      int
	MedianWait int64   // seconds since the task was ready, or since the beginning of the window
	P95Wait    int64   // likewise
	Used       float64 // fraction of all service within the window
}

// Replay simulates the past again, under shares. It begins with the jobs that ran at the beginning of the
// window, and without earlier usage, because that is not stored.
func (p *Past) Replay(ctx context.Context, shares *allocation.Config) (*Outcome, error) {
	w := p.under(shares)
	cfg := shares.Sched
	cfg.Unit = p.Window.Unit
	cfg.Licenses, cfg.Rates = nil, nil
	r, err := sim.Run(&w, sim.Options{Config: cfg, Seed: 1, Priority: shares.NormalPriority(),
		Progress: func(int) error { return ctx.Err() }})
	if err != nil {
		return nil, err
	}
	return p.outcome(r), nil
}

// under returns the workload with its jobs in the pools where they would be under the given shares. Jobs in a
// pool with pools below it go to the pool of their user. They keep their time limits; a job without one gets
// the default of the shares, for plans.
func (p *Past) under(shares *allocation.Config) sim.Workload {
	w := p.Workload
	w.Jobs, w.Pools = slices.Clone(w.Jobs), slices.Clone(w.Pools)
	var inner []bool
	for _, path := range p.Pools {
		inner = append(inner, Leaf(shares, path, "") != path)
	}
	pools := map[string]int32{}
	for i, path := range w.Pools {
		pools[path] = int32(i)
	}
	for i := range w.Jobs {
		if j := &w.Jobs[i]; inner[j.Pool] {
			j.Pool = number(pools, &w.Pools, Leaf(shares, p.Pools[j.Pool], p.Users[j.User]))
		}
	}
	w.Plan(&shares.Sched.Root)
	return w
}

// Leaf returns the pool for jobs of a user that were in a pool. It is the same pool or, if the given shares
// have pools below that pool, the user's pool in it.
func Leaf(shares *allocation.Config, path, user string) string {
	pool := shares.Sched.Root.Find(path)
	if pool == nil || len(pool.Pools) == 0 {
		return path
	}
	return share.Join(path, share.UserPool(user))
}

func (p *Past) outcome(r *sim.Result) *Outcome {
	out := &Outcome{Jain: r.Metrics.Jain, Pools: map[string]PoolOutcome{}}
	end := int64(p.Window.To.Sub(p.Window.From).Seconds())
	waits, used, all := map[string][]int64{}, map[string]float64{}, 0.0
	for i := range r.Workload.Jobs {
		if !r.Schedule.Started(i) {
			out.Never++
			continue
		}
		j := &r.Workload.Jobs[i]
		top, _, _ := strings.Cut(r.Workload.Pools[j.Pool], "/")
		waits[top] = append(waits[top], r.Wait(i))
		area := float64(max(0, min(r.End(i), end)-r.Schedule.Start[i])) * float64(j.Procs)
		used[top] += area
		all += area
	}
	for top, w := range waits {
		out.Pools[top] = PoolOutcome{Tasks: len(w), MedianWait: sim.Percentile(w, 50), P95Wait: sim.Percentile(w, 95),
			Used: used[top] / math.Max(all, 1)}
	}
	out.Utilisation = all / math.Max(float64(p.Procs)*float64(end), 1)
	return out
}
