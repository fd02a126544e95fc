package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/tracing"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// submitService accepts jobs, and reports what will happen to them.
type submitService struct {
	loop       *engine.Loop
	explainer  *explain.Explainer
	forecaster *forecast.Forecaster
	metrics    *metrics
	tracer     *tracing.Tracer // nil if there is no collector
	names      *names
}

func (s *submitService) routes(a huma.API) {
	handle(a, http.MethodPost, "/v1/jobs", "submit", "Submit jobs, or show the effects", maxSubmit, s.submit)
}

type submitInput struct {
	As    string `header:"X-Fairlead-As" doc:"Submit for this user; for administrators only"`
	Group string `header:"X-Fairlead-Group" hidden:"true"`
	Trace string `header:"Traceparent" doc:"The trace to which the jobs belong, as W3C writes it; tasks find it in TRACEPARENT"`
	Body  api.SubmitRequest
}

// ownerOf returns the user who will own the jobs, and that user's primary group.
func (s *submitService) ownerOf(
	ctx context.Context, in *submitInput, me *access.Principal,
) (owner, group string, err error) {
	owner, group = me.Name, me.Group()
	if in.As != "" && in.As != me.Name {
		owner, group = in.As, in.Group
	}
	if err := check(ctx, s.loop, access.Submit, access.Object{Owner: owner}); err != nil {
		return "", "", err
	}
	if owner == me.Name || group != "" {
		return owner, group, nil
	}
	groups, err := s.names.groupsOf(owner)
	if len(groups) > 0 {
		group = groups[0]
	}
	return owner, group, err
}

func (s *submitService) submit(ctx context.Context, in *submitInput) (*api.SubmitResponse, error) {
	me := who(ctx)
	owner, group, err := s.ownerOf(ctx, in, &me)
	if err != nil {
		return nil, err
	}
	jobs := make([]queue.Job, len(in.Body.Jobs))
	for i := range jobs {
		if err := in.Body.Jobs[i].CheckArgs(); err != nil {
			return nil, err
		}
		jobs[i] = in.Body.Jobs[i].ToJob()
		jobs[i].User, jobs[i].Group, jobs[i].Pool = owner, group, s.loop.Intake.PoolFor(ctx, jobs[i].Pool)
		if err := checkNice(ctx, s.loop, jobs[i].Nice); err != nil {
			return nil, err
		}
	}
	o := engine.SubmitOptions{Unsatisfiable: in.Body.Unsatisfiable, By: &me}
	out := api.SubmitResponse{Version: api.Version, Jobs: make([]api.Submitted, len(jobs))}
	if in.Body.DryRun {
		if !me.Admin {
			if err := s.loop.Intake.CheckLimits(ctx, &me, jobs); err != nil {
				return nil, err
			}
		}
		known, err := s.loop.Intake.Keyed(ctx, jobs, o)
		if err != nil {
			return nil, err
		}
		for i, sub := range known {
			if sub.Existing || sub.Err != nil {
				out.Jobs[i] = api.Submitted{ID: sub.ID, Existing: sub.Existing, Error: api.FromError(sub.Err)}
				continue
			}
			out.Jobs[i] = s.dryRun(ctx, jobs[i], forecast.TryOptions{
				Unsatisfiable: o.Unsatisfiable, By: o.By, Estimate: len(jobs) == 1,
			})
		}
		return &out, nil
	}
	end := s.traced(in.Trace, owner, jobs)
	asked := time.Now()
	subs, err := s.loop.Intake.SubmitWith(ctx, jobs, o)
	end(err)
	s.metrics.life.Stored("submit", time.Since(asked))
	if err != nil {
		return nil, err
	}
	accepted := 0
	for i, sub := range subs {
		out.Jobs[i] = api.Submitted{ID: sub.ID, Existing: sub.Existing, Error: api.FromError(sub.Err)}
		if sub.Err == nil && !sub.Existing {
			accepted++
		}
	}
	s.metrics.submitted.Add(float64(accepted))
	if len(jobs) == 1 && subs[0].Err == nil {
		s.describe(ctx, &out.Jobs[0], in.Body.Estimate)
	}
	return &out, nil
}

// describe adds the pool, the time limit, the place and the reason of the job to a submission.
func (s *submitService) describe(ctx context.Context, sub *api.Submitted, estimate bool) {
	j, err := s.loop.Client().Job(ctx, sub.ID)
	if err != nil {
		return
	}
	sub.Pool, sub.User, sub.Tasks = j.Pool, j.User, j.Tasks
	s.addLimit(sub, j.Limit)
	if j.State != queue.Waiting && j.State != queue.Blocked {
		return
	}
	if _, waiting := s.loop.Running(); waiting > manyWaiting && !estimate {
		s.describeShortly(ctx, sub, j, waiting)
		return
	}
	a, err := s.forecaster.Why(ctx, sub.ID, explain.WhyOptions{Siblings: 1, Estimate: estimate})
	if err != nil {
		return
	}
	keepAllowed(ctx, s.loop, a)
	addReason(sub, a)
}

// addReason copies the reason of an answer to a submission.
func addReason(sub *api.Submitted, a *why.Answer) {
	sub.Reason = &api.Reason{Code: string(a.Reason.Code), Text: a.Reason.Text}
	sub.Start, sub.Changes = a.Start, a.Changes
	if a.Rank != nil {
		sub.Rank, sub.Of = a.Rank.Position, a.Rank.Of
	}
	for _, r := range append([]why.Reason{a.Reason}, a.Others...) {
		if needsHelp(r.Code) {
			sub.Warning = r.Text
			return
		}
	}
}

// needsHelp reports whether to warn the user. It does if time alone will never start the job, or if a shorter time
// limit would let the job start before the end of the maintenance in its way.
func needsHelp(c why.Code) bool {
	switch c {
	case why.FitNever, why.LicenseNever, why.GateNever, why.NoNodes, why.ReservationOver, why.PolicyMaint, why.PolicyReservation:
		return true
	}
	return false
}

// manyWaiting is the number of waiting tasks from which on a submission gets no preview of its own. The cost of a
// preview grows with the number of tasks before the job, and everybody has to wait for the preview.
const manyWaiting = 1000

// describeShortly takes the place and the reason from the order that lists of jobs share.
func (s *submitService) describeShortly(ctx context.Context, sub *api.Submitted, j *queue.Job, waiting int64) {
	r, ok := s.explainer.ShortReasons(ctx, []*queue.Job{j})[j.ID]
	if !ok {
		return
	}
	sub.Reason = &api.Reason{Code: string(r.Code), Text: r.Text}
	if needsHelp(r.Code) {
		sub.Warning = r.Text
	}
	if r.Rank > 0 {
		sub.Rank, sub.Of = r.Rank, max(r.Rank, waiting)
	}
}

// dryRun forecasts a job in a fork of the scheduler.
func (s *submitService) dryRun(ctx context.Context, j queue.Job, o forecast.TryOptions) api.Submitted {
	a, tasks, err := s.forecaster.Try(ctx, j, o)
	if err != nil {
		return api.Submitted{Error: api.FromError(err)}
	}
	keepAllowed(ctx, s.loop, a)
	out := api.Submitted{Pool: a.Subject.Pool, User: j.User, Tasks: tasks}
	addReason(&out, a)
	s.addLimit(&out, time.Duration(a.Subject.Limit*float64(time.Second)))
	return out
}

// addLimit adds the time limit to a submission, and a hint if the job should have one.
func (s *submitService) addLimit(sub *api.Submitted, limit time.Duration) {
	sub.LimitSeconds = limit.Seconds()
	if limit == 0 && s.loop.Client().PromisesByLimits() {
		sub.Hint = "no time limit: planned starts of other jobs depend on a prediction; give a time limit with -t"
	}
}

// traced sets the trace of jobs that have none: that of the submitter or, with a tracer, the span of this submission
// below it. The caller must call the returned function when the submission is done.
func (s *submitService) traced(parent, user string, jobs []queue.Job) (end func(error)) {
	end = func(error) {}
	if !tracing.Valid(parent) {
		parent = ""
	}
	if s.tracer != nil {
		parent, end = s.tracer.Submit(parent, user, len(jobs))
	}
	if parent == "" {
		return end
	}
	for i := range jobs {
		if jobs[i].Env[tracing.Variable] != "" {
			continue
		}
		if jobs[i].Env == nil {
			jobs[i].Env = map[string]string{}
		}
		jobs[i].Env[tracing.Variable] = parent
	}
	return end
}
