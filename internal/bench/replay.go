package bench

import (
	"fmt"
	"runtime"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/sim/workload"
	"github.com/fairlead/fairlead/sched"
)

// replayed generates a workload with a load like that of the machines in large logs.
func replayed(jobs int) (*sim.Workload, error) {
	made, err := workload.Lublin{
		Jobs: jobs, Procs: 256, Seed: 1, Types: workload.Both, Users: 50, Zipf: 1, Load: 0.85,
	}.Make()
	if err != nil {
		return nil, err
	}
	w := &sim.Workload{Name: "made up", Procs: 256, Zero: time.Unix(1_700_000_000, 0)}
	for i := range 51 {
		w.Users, w.Pools = append(w.Users, fmt.Sprint("u", i)), append(w.Pools, fmt.Sprint("u", i))
	}
	for i, j := range made {
		w.Jobs = append(w.Jobs, sim.Job{
			ID: int64(i + 1), Submit: j.Submit, Run: j.Run, Estimate: j.Estimate, Procs: int32(j.Procs), User: int32(j.User),
			Pool: int32(j.User),
		})
	}
	return w, nil
}

// Replay measures the simulator with a generated workload under a policy and a backfill rule.
func Replay(policy string, backfill sched.Backfill, jobs int) (Result, error) {
	work, err := replayed(jobs)
	if err != nil {
		return Result{}, err
	}
	cfg := allocation.Default().Sched
	cfg.Root.Policy, cfg.Backfill = policy, backfill
	runtime.GC()
	w := start()
	if _, err := sim.Run(work, sim.Options{Config: cfg, Seed: 1, Bare: true}); err != nil {
		return Result{}, err
	}
	r := Result{Name: "jobs replayed", Detail: fmt.Sprintf("%s with %v, 256 processors, load 0.85", policy, backfill)}
	r.PerSecond, r.CPU = w.stop(jobs)
	if policy == "fifo" && backfill == sched.EASY {
		r.Goal = ">= 100,000/s"
	}
	return r, nil
}
