package server

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/why"
)

// source is the server as the dashboard sees it: each method is the operation of the interface
// that has its name, with the same answer and the same checks.
type source struct{ s *Server }

var _ web.Source = source{}

func (x source) You(ctx context.Context) api.Actor { return who(ctx).Actor }

func (x source) Version() uint64 { return x.s.options.Loop.Version() }

func (x source) Shares(ctx context.Context, pool string) (*api.Shares, error) {
	return bodyOf(x.s.shares(ctx, &sharesInput{Pool: pool}))
}

func (x source) Jobs(ctx context.Context, q fairlead.Query, o web.JobOptions) (*api.JobList, error) {
	o.Soon = true
	return x.s.jobs(ctx, q, o)
}

func (x source) Waiting() int64 {
	_, waiting := x.s.options.Loop.Running()
	return waiting
}

func (x source) Job(ctx context.Context, id int64) (*api.JobResponse, error) {
	return x.s.whole(ctx, id)
}

func (x source) Why(ctx context.Context, id int64, o fairlead.WhyOptions) (*why.Answer, error) {
	return x.s.explain(ctx, id, o)
}

func (x source) JobHistory(ctx context.Context, id int64) (*api.JobResponse, *api.History, error) {
	j, tasks, err := x.s.jobAndTasks(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	events, err := x.s.options.Loop.HistoryOf(ctx, j, tasks)
	job, history := x.s.jobOf(ctx, j, tasks), historyOf(id, events)
	return &job, &history, err
}

func (x source) WhatIf(ctx context.Context, id int64, v api.Variation) (*why.WhatIf, error) {
	w, err := bodyOf(x.s.whatIf(ctx, &whatIfInput{ID: id, Body: v}))
	if err != nil {
		return nil, err
	}
	return *w, nil
}

func (x source) Log(ctx context.Context, id int64, task int, stderr bool, offset int64, limit int) (*api.LogChunk, error) {
	return bodyOf(x.s.logs(ctx, &logInput{ID: id, Task: task, Stderr: stderr, Offset: offset, Limit: limit}))
}

func (x source) Next(ctx context.Context, place int64, n int) (ids, places []int64) {
	return x.s.options.Loop.Glance(ctx).After(place, n)
}

func (x source) Oldest(ctx context.Context, most int) []int64 {
	return x.s.options.Loop.Oldest(ctx, most)
}

func (x source) Placed(ctx context.Context) func(id int64) bool {
	order := x.s.options.Loop.Glance(ctx)
	return func(id int64) bool {
		_, placed := order.Position[id]
		return placed
	}
}

func (x source) WhyPool(ctx context.Context, pool string, siblings int) (*why.Answer, error) {
	return x.s.options.Loop.WhyPool(ctx, pool, siblings)
}

func (x source) Waits(ctx context.Context, a account.Ask, steps []time.Duration, most int) (*account.Waits, error) {
	return account.ReadWaits(ctx, x.s.options.Loop.Client(), a, steps, most)
}

func (x source) Alter(ctx context.Context, r api.AlterRequest) (*api.AlterResponse, error) {
	return bodyOf(x.s.alter(ctx, &alterInput{r}))
}

func (x source) Reorder(ctx context.Context, r api.ReorderRequest) (*api.Reorder, error) {
	return bodyOf(x.s.reorder(ctx, &reorderInput{r}))
}

func (x source) Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error) {
	return bodyOf(x.s.boost(ctx, &boostInput{r}))
}

func (x source) Boosts(ctx context.Context) (*api.Boosts, error) {
	return bodyOf(x.s.boosts(ctx, nil))
}

func (x source) Unboost(ctx context.Context, id int64) (*api.BoostResponse, error) {
	return bodyOf(x.s.unboost(ctx, &unboostInput{ID: id}))
}

func (x source) Pause(ctx context.Context, r api.PauseRequest) (*api.PauseResponse, error) {
	return bodyOf(x.s.pause(ctx, &pauseInput{r}))
}

func (x source) Resume(ctx context.Context, pool string) (*api.PauseResponse, error) {
	return bodyOf(x.s.resume(ctx, &resumeInput{Pool: pool}))
}

func (x source) Nodes(ctx context.Context) (*api.Nodes, error) {
	return bodyOf(x.s.nodes(ctx, nil))
}

func (x source) NodeTasks(ctx context.Context, nodes []string, past time.Duration) (*api.NodeTasks, error) {
	return bodyOf(x.s.nodeTasks(ctx, &nodeTasksInput{Nodes: nodes, Past: past.Seconds()}))
}

func (x source) Limits(ctx context.Context) (*api.Limits, error) {
	return bodyOf(x.s.limits(ctx, nil))
}

func (x source) LimitCourses(ctx context.Context, past time.Duration) (*api.LimitCourses, error) {
	return bodyOf(x.s.limitCourses(ctx, &limitCoursesInput{Past: past.Seconds()}))
}

func (x source) Drain(ctx context.Context, node string, r api.DrainRequest) error {
	_, err := x.s.drain(ctx, &drainInput{Name: node, Body: r})
	return err
}

func (x source) Reservations(ctx context.Context) (*api.Reservations, error) {
	return bodyOf(x.s.reservations(ctx, nil))
}

func (x source) Reserve(ctx context.Context, name string, r api.ReserveRequest) (*api.ReserveResponse, error) {
	return bodyOf(x.s.reserve(ctx, &reserveInput{Name: name, Body: r}))
}

func (x source) Unreserve(ctx context.Context, name string) (*api.ReserveResponse, error) {
	return bodyOf(x.s.unreserve(ctx, &unreserveInput{Name: name}))
}

func (x source) Status(ctx context.Context) (*api.ServerStatus, error) {
	return bodyOf(x.s.status(ctx, nil))
}

func (x source) Doctor(ctx context.Context) (*api.Diagnosis, error) {
	return x.s.shownDiagnosis(ctx), nil
}

func (x source) Config(ctx context.Context) (*api.ConfigStatus, error) {
	return bodyOf(x.s.config(ctx, nil))
}

func (x source) ConfigVersions(ctx context.Context) (*api.ConfigVersions, error) {
	return bodyOf(x.s.configVersions(ctx, nil))
}

func (x source) ConfigVersion(ctx context.Context, number int) (*api.ConfigVersion, error) {
	return bodyOf(x.s.configVersion(ctx, &versionInput{Number: number}))
}

func (x source) ConfigHistory(ctx context.Context, limit int) (*api.ConfigHistory, error) {
	return inner(x.s.configHistory(ctx, &historyInput{Limit: limit}))
}

func (x source) ConfigRead(f api.ConfigFile) (*config.Config, error) {
	return x.s.options.Config.Read(f)
}

func (x source) ConfigDiff(ctx context.Context, f api.ConfigFile) (*api.ConfigDiff, error) {
	return inner(x.s.configDiff(ctx, &fileInput{f}))
}

func (x source) ConfigPlan(ctx context.Context, r api.ConfigPlanRequest) (*api.ConfigPlan, error) {
	return inner(x.s.configPlan(ctx, &planInput{r}))
}

func (x source) ConfigApply(ctx context.Context, r api.ApplyRequest) (*api.ApplyResponse, error) {
	return inner(x.s.configApply(ctx, &applyInput{r}))
}

func (x source) ConfigRollback(ctx context.Context, r api.RollbackRequest) (*api.ApplyResponse, error) {
	return inner(x.s.configRollback(ctx, &rollbackInput{r}))
}

func (x source) PoolHistory(ctx context.Context, pool string, since, until time.Time) (*api.PoolHistory, error) {
	return bodyOf(x.s.poolHistory(ctx, &poolHistoryInput{Pool: pool, Since: since, Until: until}))
}

// PoolHistories answers for several pools what the interface answers for one.
func (x source) PoolHistories(ctx context.Context, pools []string, since time.Time, step time.Duration) ([]*api.PoolHistory, error) {
	now := time.Now()
	v, err := x.s.options.Loop.PoolHistory(ctx, pools, since, now, step)
	if err != nil {
		return nil, err
	}
	_, _, unit := x.s.options.Loop.Capacity()
	var out []*api.PoolHistory
	for i, pool := range pools {
		out = append(out, &api.PoolHistory{Version: api.Version, At: now, Pool: pool, Unit: unit, From: v.From, To: v.To, StepSeconds: v.Step.Seconds(), Points: v.Pools[i]})
	}
	return out, nil
}

// reasons are those of jobs that wait, and their places; soon is for a page, which does not wait for
// these.
func (s *Server) reasons(ctx context.Context, jobs []*fairlead.Job, soon bool) map[int64]fairlead.ShortReason {
	order := s.options.Loop.Order
	if soon {
		order = s.options.Loop.Glance
	}
	return s.options.Loop.ReasonsIn(order(ctx), jobs)
}

// inner is what an operation answers whose body is a pointer.
func inner[T any](b *body[*T], err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return b.Body, nil
}

// bodyOf is what an operation answers.
func bodyOf[T any](b *body[T], err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &b.Body, nil
}
