package server

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/sim/history"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

type workloadInput struct {
	Seconds float64 `query:"seconds" minimum:"1" maximum:"31536000" default:"86400" doc:"How far back"`
}

// workload is open to everybody, like the list of jobs that it is made from.
func (s *reportService) workload(ctx context.Context, in *workloadInput) (*api.Workload, error) {
	capacity, _, unit := s.loop.Capacity()
	if capacity[unit] < 1 && views.Endless(s.loop) {
		return nil, fmt.Errorf("a bridge without a limit of slots is connected, and no other node is up: "+
			"the size of the cluster for a replay is unknown: %w", queue.ErrState)
	}
	if capacity[unit] < 1 {
		return nil, fmt.Errorf("no node is up, so the size of the cluster for a replay is unknown: %w", queue.ErrState)
	}
	now := time.Now()
	w := history.Window{From: now.Add(-time.Duration(in.Seconds * float64(time.Second))), To: now, Unit: unit, Units: capacity[unit]}
	past, err := history.Read(ctx, s.loop.Client(), w)
	if err != nil {
		return nil, err
	}
	out := &api.Workload{
		Version: api.Version, From: past.Window.From, To: w.To, Unit: unit, Units: past.Procs, Users: append([]string{}, past.Users...), Pools: append([]string{}, past.Pools...),
		Jobs: make([]api.WorkloadJob, len(past.Jobs)), Guessed: past.Guessed, LeftOut: past.TooWide + past.Unknown, Cut: past.Cut,
	}
	for i, j := range past.Jobs {
		out.Jobs[i] = api.WorkloadJob{Job: j.ID, Submit: j.Submit, Run: j.Run, Estimate: j.Estimate, Units: j.Procs, User: j.User, Pool: j.Pool, NoLimit: j.NoLimit, Running: j.Running}
	}
	return out, nil
}
