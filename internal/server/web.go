package server

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// sourceOf returns the server as the dashboard sees it: it calls the operations of the interface, so that the dashboard
// gets the same answers and passes the same checks.
func sourceOf(s *services, o Options) web.Source {
	explainer := o.Forecast.Explainer()
	return web.Source{
		Server: serverSource{o.Loop, s.status, s.doctor, s.health},
		Jobs:   jobSource{o.Loop, explainer, s.jobs, s.why, s.logs, s.submit},
		Pools:  poolSource{o.Loop, explainer, s.reports, s.pools, s.boosts, s.pauses, s.history},
		Nodes:  nodeSource{s.nodes, s.limits, s.reservations, s.nodes.recorder},
		Config: s.config,
	}
}

type serverSource struct {
	loop *engine.Loop
	*statusService
	*doctorService
	*healthService
}

func (serverSource) Failed(ctx context.Context, err error) { noteFailure(ctx, err) }

func (x serverSource) You(ctx context.Context) web.You {
	me := who(ctx)
	role := ""
	if rules := &x.loop.Client().Shares.Load().Access; me.Admin {
		role = "admin"
	} else if operated := rules.Operated(&me); len(operated) > 0 {
		role = strings.Join(append(operated, me.Name), " ") // the name, because operators end only their own pauses
	}
	// Equal roles share a rendering. The role includes the limits of the credential, so that no rendering shows more.
	role = strings.Join(slices.Concat([]string{role}, me.Scopes, []string{""}, me.Pools), " ")
	return web.You{Actor: actorOf(me), Role: role, May: func(v access.Verb, o access.Object) error {
		return x.loop.Client().Shares.Load().Access.Check(&me, v, o)
	}}
}

func (x serverSource) Version() uint64 { return x.loop.Version() + x.HealthVersion() }

type jobSource struct {
	loop      *engine.Loop
	explainer *explain.Explainer
	*jobService
	*whyService
	logs   *logService
	intake *submitService
}

// List lists jobs as the interface does, without places for which it would have to wait.
func (x jobSource) List(ctx context.Context, q queue.Query, o web.JobOptions) (*api.JobList, error) {
	o.Soon = true
	return x.jobs(ctx, q, o)
}

// Submit submits one job, or says what would happen.
func (x jobSource) Submit(ctx context.Context, spec *api.Spec, check bool) (*api.Submitted, error) {
	in := &submitInput{Body: api.SubmitRequest{Jobs: []api.Spec{*spec}, DryRun: check, Estimate: !spec.Held}}
	out, err := x.intake.submit(ctx, in)
	if err != nil {
		return nil, err
	}
	return &out.Jobs[0], nil
}

func (x jobSource) Waiting() int64 {
	_, waiting := x.loop.Running()
	return waiting
}

func (x jobSource) Log(
	ctx context.Context, id int64, task int, stderr bool, offset int64, limit int,
) (*api.LogChunk, error) {
	return x.logs.logs(ctx, &logInput{ID: id, Task: task, Stderr: stderr, Offset: offset, Limit: limit})
}

func (x jobSource) Next(ctx context.Context, pool string, place int64, n int) (ids, places []int64) {
	return x.explainer.CachedOrder(ctx).After(pool, place, n)
}

func (x jobSource) InOrder(ctx context.Context) []int64 {
	ids, _ := x.explainer.Order(ctx).After("", 0, math.MaxInt)
	return ids
}

func (x jobSource) Oldest(ctx context.Context, most int) []int64 {
	return x.explainer.Oldest(ctx, most)
}

func (x jobSource) Places(ctx context.Context, pool string) func(id int64) int64 {
	order := x.explainer.CachedOrder(ctx)
	return func(id int64) int64 { return order.Place(pool, id) }
}

type poolSource struct {
	loop      *engine.Loop
	explainer *explain.Explainer
	reports   *reportService
	*poolService
	*boostService
	*pauseService
	*historyService
}

func (x poolSource) Why(ctx context.Context, pool string, siblings int) (*why.Answer, error) {
	return x.explainer.WhyPool(ctx, pool, siblings)
}

func (x poolSource) Waits(
	ctx context.Context, a account.Ask, steps []time.Duration, most int,
) (*account.Waits, error) {
	return account.ReadWaits(ctx, x.loop.Client(), a, steps, most)
}

func (x poolSource) Past(ctx context.Context, a account.Ask, shares bool) (*api.PastReport, error) {
	return x.reports.read(ctx, a, shares)
}

func (x poolSource) History(ctx context.Context, pool string, since, until time.Time) (*api.PoolHistory, error) {
	return x.poolHistory(ctx, &poolHistoryInput{Pool: pool, Since: since, Until: until})
}

type nodeSource struct {
	*nodeService
	*limitService
	*reservationService
	*history.Recorder
}

// Read reads a configuration for the dashboard.
func (s *configService) Read(f api.ConfigFile) (*config.Config, error) { return s.config.Read(f) }
