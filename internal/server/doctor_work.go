package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
)

// waitingMost is at how many of the jobs that wait doctor looks.
const waitingMost = 20_000

// waitingUsers are those of the jobs that wait, a few of them.
func (s *Server) waitingUsers(ctx context.Context) []string {
	const most = 1000
	jobs, err := s.options.Store.Jobs(ctx, fairlead.Query{States: []fairlead.State{fairlead.Waiting}, Limit: most})
	if err != nil {
		return nil
	}
	var users []string
	for _, j := range jobs {
		if len(j.Argv) > 0 && !slices.Contains(users, j.User) {
			users = append(users, j.User)
		}
	}
	return users
}

// checkPools looks for pools in which work waits that has no share, or that nobody configured
// among those that were.
func (s *Server) checkPools(ctx context.Context) []api.HealthCheck {
	return []api.HealthCheck{judgePools(s.options.Loop.Pools(ctx))}
}

// judgePools says which pools have work and no share, or hold nothing but cannot be used.
func judgePools(pools []fairlead.PoolView) api.HealthCheck {
	configured := map[string]bool{}
	beside := map[string]bool{} // pools of which a child was configured
	for i := range pools {
		if p := &pools[i]; p.Configured && p.Depth > 0 {
			configured[p.Path] = true
			beside[above(p.Path)] = true
		}
	}
	var found []string
	for i := range pools {
		p := &pools[i]
		switch {
		case p.Depth == 0:
		case p.Waiting > 0 && p.Weight <= 0:
			found = append(found, p.Path+" has no weight: it gets only what all others leave")
		case p.Waiting > 0 && !configured[p.Path] && beside[above(p.Path)]:
			found = append(found, p.Path+" is not in the configuration, and the pools beside it are: it has the weight 1")
		}
	}
	if len(found) == 0 {
		return counted(good("pools", fmt.Sprintf("%d, and whatever waits in one has a share", len(pools)-1)), 0, "pools")
	}
	return counted(bad("pools", api.ResultWarn, some(found), "give them a weight in the configuration, or move their jobs: fairlead alter JOB --pool POOL"), len(found), "pools")
}

// above is the pool above one.
func above(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(0, i)]
}

// checkWaiting looks for jobs that can never start as things are.
func (s *Server) checkWaiting(ctx context.Context) []api.HealthCheck {
	stuck, looked, err := s.options.Loop.Stuck(ctx, waitingMost)
	if err != nil {
		return []api.HealthCheck{bad("waiting jobs", api.ResultFail, err.Error(), "see the server's log")}
	}
	text := fmt.Sprintf("none of %d is stuck", looked)
	if looked == waitingMost {
		text = fmt.Sprintf("none of the first %d is stuck", looked)
	}
	if len(stuck) == 0 {
		return []api.HealthCheck{counted(good("waiting jobs", text), 0, "jobs")}
	}
	slices.SortFunc(stuck, func(a, b fairlead.Stuck) int { return cmp.Compare(b.Jobs, a.Jobs) })
	total, parts := 0, []string{}
	for _, x := range stuck {
		total += x.Jobs
		parts = append(parts, fmt.Sprintf("%s (%s, such as %d: %s)", several(x.Jobs, "job"), x.Code, x.First, plain.Line(x.Text)))
	}
	return []api.HealthCheck{counted(bad("waiting jobs", api.ResultWarn, strings.Join(parts, "; ")+" cannot start as things are", fmt.Sprintf("fairlead why %d", stuck[0].First)), total, "jobs")}
}
