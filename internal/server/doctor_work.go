package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// maxWaiting is how many of the waiting jobs doctor checks.
const maxWaiting = 20_000

// waitingUsers returns some of the users whose jobs wait.
func (s *examiner) waitingUsers(ctx context.Context) []string {
	const most = 1000
	jobs, err := s.store.Jobs(ctx, queue.Query{States: []queue.State{queue.Waiting}, Limit: most})
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

// checkPools reports pools whose waiting work has no share, unconfigured pools beside configured ones, and pools that
// have long had less than reclaim should give them.
func (s *examiner) checkPools(ctx context.Context) []api.HealthCheck {
	return []api.HealthCheck{judgePools(views.Pools(ctx, s.loop), s.explainer.Starving(ctx)), s.checkNames(ctx)}
}

// judgePools warns of pools with waiting work that have no weight or are unconfigured beside configured ones, and of
// starving pools.
func judgePools(pools []views.PoolView, starving []explain.Starving) api.HealthCheck {
	configured := map[string]bool{}
	beside := map[string]bool{} // pools with a configured child
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
			found = append(found, p.Path+" has the weight 0: it gets only what all other pools leave")
		case p.Waiting > 0 && !configured[p.Path] && beside[above(p.Path)]:
			found = append(found, p.Path+" is not in the configuration, but its siblings are: it has the weight 1")
		}
	}
	next := "give such pools a weight in the configuration, or move their jobs: fairlead alter JOB --move-to POOL"
	if len(found) == 0 {
		next = "remove protect: true from other pools, lower the min, or give tasks time limits"
	}
	for i := range starving {
		found = append(found, starving[i].Text(time.Now()))
	}
	if len(found) == 0 {
		return counted(good("pools", fmt.Sprintf("%d, and each pool with waiting jobs has a share", len(pools)-1)), 0, "pools")
	}
	return counted(bad("pools", api.ResultWarn, some(found), next), len(found), "pools")
}

// checkNames reports names of users' pools that an earlier version made.
func (s *examiner) checkNames(ctx context.Context) api.HealthCheck {
	var report *poolnames.Report
	if keeper, ok := s.store.(queue.Settings); ok {
		kept, err := keeper.Settings(ctx)
		if err == nil {
			report, err = poolnames.Read(kept)
		}
		if err != nil {
			return bad("pool names", api.ResultFail, err.Error(), "see the server's log")
		}
	}
	return judgeNames(s.loop.StaleNames(), report)
}

// judgeNames reports pools in the configuration that no longer belong to the users, and pools that several users
// shared.
func judgeNames(stale []engine.StaleName, report *poolnames.Report) api.HealthCheck {
	var found []string
	for _, n := range stale {
		found = append(found, n.Text())
	}
	if len(found) > 0 {
		return counted(bad("pool names", api.ResultWarn, some(found), fmt.Sprintf("add %s to the configuration: instead of %s, or beside it if other users use that pool", stale[0].Own, stale[0].Pool)), len(found), "pools")
	}
	text := "no two users share a pool by its name"
	if report != nil && len(report.Parted) > 0 {
		for _, p := range report.Parted {
			users := make([]string, len(p.Users))
			for i, u := range p.Users {
				users[i] = strconv.Quote(u)
			}
			found = append(found, fmt.Sprintf("%s had jobs of %s", p.Pool, strings.Join(users, ", ")))
		}
		text = fmt.Sprintf("%s until %s; now each user has a pool of their own, and past usage stays in the old pool", some(found), report.At.UTC().Format(time.DateOnly))
	}
	return counted(good("pool names", plain.Line(text)), 0, "pools")
}

// above returns the path of the parent pool.
func above(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(0, i)]
}

// checkWaiting reports jobs that can never start as things are.
func (s *examiner) checkWaiting(ctx context.Context) []api.HealthCheck {
	stuck, looked, err := s.explainer.Stuck(ctx, maxWaiting)
	if err != nil {
		return []api.HealthCheck{bad("waiting jobs", api.ResultFail, err.Error(), "see the server's log")}
	}
	text := fmt.Sprintf("none of %s is stuck", several(looked, "waiting job"))
	if looked == maxWaiting {
		text = fmt.Sprintf("none of the first %s is stuck", several(looked, "waiting job"))
	}
	if len(stuck) == 0 {
		return []api.HealthCheck{counted(good("waiting jobs", text), 0, "jobs")}
	}
	slices.SortFunc(stuck, func(a, b explain.Stuck) int { return cmp.Compare(b.Jobs, a.Jobs) })
	total := 0
	var never, passed []string
	for _, x := range stuck {
		total += x.Jobs
		text := fmt.Sprintf("%s (%s, such as %d: %s)", several(x.Jobs, "job"), x.Code, x.First, plain.Line(x.Text))
		if x.MayStarve() {
			passed = append(passed, text)
		} else {
			never = append(never, text)
		}
	}
	var found []string
	if len(never) > 0 {
		found = append(found, strings.Join(never, "; ")+" cannot start at present")
	}
	if len(passed) > 0 {
		found = append(found, strings.Join(passed, "; ")+" may starve")
	}
	next := fmt.Sprintf("fairlead why %d", stuck[0].First)
	return []api.HealthCheck{counted(bad("waiting jobs", api.ResultWarn, strings.Join(found, "; "), next), total, "jobs")}
}

// checkBackfill warns of a backfill rule under which jobs that wait or run now could pass one another forever.
func (s *examiner) checkBackfill(ctx context.Context) api.HealthCheck {
	w, err := s.explainer.Widths(ctx, maxWaiting)
	if err != nil {
		return bad("backfill", api.ResultFail, err.Error(), "see the server's log")
	}
	return judgeBackfill(w)
}

// judgeBackfill reports whether the backfill rule lets waiting jobs pass others forever.
func judgeBackfill(w explain.Widths) api.HealthCheck {
	next := "set backfill: easy; preview the change with: fairlead config plan FILE"
	switch {
	case w.Backfill == sched.FCFS && w.Anew != "" && w.Resource != "":
		text := fmt.Sprintf("fcfs waits for the job that goes first, but the policy of %s chooses a new one whenever a task ends, "+
			"and jobs ask for %s to %s: narrow jobs can pass wide jobs forever", plain.Line(w.Anew),
			units.Quantity(w.Resource, w.Min), units.Amount(w.Resource, w.Max))
		return bad("backfill", api.ResultWarn, text, next)
	case w.Backfill == sched.FCFS:
		return good("backfill", "fcfs lets no job pass the job that goes first")
	case w.Backfill != sched.FirstFit:
		return good("backfill", fmt.Sprintf("%v keeps room for the job that goes first", w.Backfill))
	case w.Resource == "":
		return good("backfill", "first-fit, and all jobs ask for the same amount")
	}
	text := fmt.Sprintf("first-fit keeps no room for wide jobs, and jobs ask for %s to %s: narrow jobs can pass wide jobs forever",
		units.Quantity(w.Resource, w.Min), units.Amount(w.Resource, w.Max))
	return bad("backfill", api.ResultWarn, text, next)
}

// userNear is the part of a limit of users from which doctor names a user.
const userNear = 0.8

// checkUsers reports users who are near the limits per user, and a configuration that leaves users no pool.
func (s *examiner) checkUsers(ctx context.Context) []api.HealthCheck {
	near, err := s.loop.Intake.UsersNearLimits(ctx, userNear)
	if err != nil {
		return []api.HealthCheck{bad("users", api.ResultFail, err.Error(), "see the server's log")}
	}
	checks := []api.HealthCheck{judgeUsers(near)}
	if s.loop.Client().Shares.Load().OnlyNamed() {
		text := "only administrators, and users after whom a pool is named, may submit"
		checks = append(checks, bad("rights to submit", api.ResultWarn, text,
			"add placement rules, or open pools with access.pools"))
	}
	return checks
}

// judgeUsers names users who may soon be unable to submit jobs.
func judgeUsers(near []engine.UserStanding) api.HealthCheck {
	if len(near) == 0 {
		return counted(good("users", "no user is near a limit of user_limits"), 0, "users")
	}
	var found []string
	for _, u := range near {
		found = append(found, plain.Line(u.User)+" has "+u.Description)
	}
	return counted(bad("users", api.ResultWarn, some(found), "if these jobs are wanted, raise the limit in the configuration; jobs above it are refused"), len(near), "users")
}
