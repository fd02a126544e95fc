package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/history"
)

// service is a part of the interface: it registers its operations.
type service interface{ routes(a huma.API) }

// services holds the parts of the interface. Each one has only what it needs.
type services struct {
	jobs         *jobService
	submit       *submitService
	why          *whyService
	logs         *logService
	pools        *poolService
	boosts       *boostService
	pauses       *pauseService
	limits       *limitService
	nodes        *nodeService
	agents       *agentService
	reservations *reservationService
	config       *configService
	scheduling   *schedulingService
	history      *historyService
	reports      *reportService
	events       *eventService
	status       *statusService
	doctor       *doctorService
	health       *healthService
	signIn       *signInService
	joins        *joinService
	tokens       *tokenService
}

func newServices(o Options, at *addresses, known *identity, m *metrics, limits connectionLimits) *services {
	loop, bridged, agents, started := o.Loop, &bridged{}, newAgents(), time.Now()
	explainer, recorder := o.Forecast.Explainer(), history.New(loop)
	if o.KeepHistory {
		recorder.Keep()
	}
	configured := &configService{loop: loop, config: o.Config}
	ledgers := &ledgers{loop: loop, store: o.Store, log: o.Logger}
	examiner := &examiner{
		loop: loop, explainer: explainer, recorder: recorder,
		store: o.Store, config: o.Config, agents: agents, addresses: at, limits: limits,
		program: o.Program, database: o.Database, started: started,
	}
	joins := newJoinService(o, agents)
	doctor := newDoctorService(examiner)
	health := newHealthService(doctor)
	m.registry.MustRegister(healthMetric{health})
	return &services{
		jobs: &jobService{loop: loop, explainer: explainer, forecaster: o.Forecast, bridged: bridged},
		submit: &submitService{
			loop: loop, explainer: explainer, forecaster: o.Forecast, metrics: m, tracer: o.Tracer, names: known.names,
		},
		why: &whyService{
			loop: loop, explainer: explainer, forecaster: o.Forecast, bridged: bridged, names: known.names,
		},
		logs:   newLogService(loop, agents, bridged),
		pools:  &poolService{loop: loop, explainer: explainer, config: o.Config},
		boosts: &boostService{loop: loop, forecaster: o.Forecast},
		pauses: &pauseService{loop: loop},
		limits: &limitService{loop: loop},
		nodes:  &nodeService{loop: loop, recorder: recorder, ledgers: ledgers, examiner: examiner},
		agents: &agentService{
			loop: loop, log: o.Logger, addresses: at, agents: agents, bridged: bridged, ledgers: ledgers, joins: joins,
		},
		reservations: &reservationService{loop: loop, forecaster: o.Forecast},
		config:       configured,
		scheduling:   &schedulingService{config: configured},
		history:      &historyService{loop: loop, recorder: recorder},
		reports:      &reportService{loop: loop, recorder: recorder, store: o.Store},
		events:       newEventService(loop),
		status: &statusService{
			loop: loop, store: o.Store, config: o.Config, addresses: at,
			program: o.Program, storeName: o.StoreName, started: started,
		},
		doctor: doctor,
		health: health,
		signIn: &signInService{loop: loop, identity: known, addresses: at, log: o.Logger},
		joins:  joins,
		tokens: &tokenService{loop: loop, bearers: known.bearers, names: known.names},
	}
}

func (s *services) all() []service {
	return []service{
		s.submit, s.jobs, s.why, s.logs, s.pools, s.boosts, s.pauses, s.limits, s.nodes, s.agents, s.reservations,
		s.config, s.scheduling, s.history, s.reports, s.events, s.status, s.doctor, s.health, s.signIn, s.joins,
		s.tokens,
	}
}

func (s *configService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/config", "config", "The current configuration", 0, alone(s.Status))
	handle(a, http.MethodGet, "/v1/config/value", "config-value", "The current value of one field of the configuration", 0, s.value)
	handle(a, http.MethodPost, "/v1/config/set", "config-set",
		"Override settings of the file, from the next step on and across restarts", 0, body(s.set))
	handle(a, http.MethodPost, "/v1/config/unset", "config-unset", "Remove settings, so that the values of the file apply", 0, body(s.unset))
	handle(a, http.MethodGet, "/v1/config/history", "config-history", "The record of changes, newest first", 0,
		func(ctx context.Context, in *historyInput) (*api.ConfigHistory, error) {
			return s.History(ctx, in.Limit)
		})
	handle(a, http.MethodPost, "/v1/config/diff", "config-diff", "Compare the current configuration with another", maxFile, body(s.Diff))
	handle(a, http.MethodPost, "/v1/config/plan", "config-plan", "Show the effects of applying a configuration now", maxFile, body(s.Plan))
	handle(a, http.MethodPost, "/v1/config/apply", "config-apply", "Apply a plan, unless its inputs have changed", 0, body(s.Apply))
	handle(a, http.MethodPost, "/v1/config/rollback", "config-rollback", "Apply an earlier version of the file", 0, body(s.Rollback))
	handle(a, http.MethodGet, "/v1/config/versions", "config-versions", "The kept versions of the file, newest first", 0, alone(s.Versions))
	handle(a, http.MethodGet, "/v1/config/versions/{number}", "config-version", "One version of the file, with its text", 0,
		func(ctx context.Context, in *versionInput) (*api.ConfigVersion, error) {
			return s.Version(ctx, in.Number)
		})
}

func (s *jobService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/jobs", "list-jobs", "List jobs", 0, s.list)
	handle(a, http.MethodGet, "/v1/jobs/{id}", "get-job", "One job with its tasks", 0, s.jobPage)
	handle(a, http.MethodPost, "/v1/jobs/alter", "alter-jobs", "Cancel, uncancel, hold, release, requeue, prioritise, move or limit jobs", 0,
		body(s.Alter))
	handle(a, http.MethodPost, "/v1/jobs/reorder", "reorder-jobs", "How the order of starts would change if jobs had another priority", 0, body(s.Reorder))
	handle(a, http.MethodGet, "/v1/jobs/{id}/history", "job-history", "The history of a job", 0, s.historyPage)
	handle(a, http.MethodGet, "/v1/stops", "list-stops", "List the tasks that were stopped so that others got their room", 0, s.stops)
}

func (s *reportService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/report", "report", "Report the usage and waits of past jobs", 0, s.past)
	handle(a, http.MethodGet, "/v1/workload", "workload", "Recent and waiting tasks, as a workload for the simulator", 0, s.workload)
}
