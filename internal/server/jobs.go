package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/why"
)

func (s *Server) jobRoutes(a huma.API) {
	handle(a, http.MethodPost, "/v1/jobs", "submit", "Submit jobs, or ask what would happen", maxSubmit, s.submit)
	handle(a, http.MethodGet, "/v1/jobs", "list-jobs", "List jobs", 0, s.list)
	handle(a, http.MethodGet, "/v1/jobs/{id}", "get-job", "One job with its tasks", 0, s.job)
	handle(a, http.MethodPost, "/v1/jobs/alter", "alter-jobs", "Cancel, hold, release, requeue, prioritise or move jobs", 0, s.alter)
	handle(a, http.MethodPost, "/v1/jobs/reorder", "reorder-jobs", "How the order of starts would change if jobs had another priority", 0, s.reorder)
	handle(a, http.MethodGet, "/v1/jobs/{id}/history", "job-history", "What happened to a job", 0, s.history)
	handle(a, http.MethodGet, "/v1/stops", "list-stops", "List the tasks that were stopped so that others got their room", 0, s.stops)
}

type submitInput struct {
	As    string `header:"X-Fairlead-As" doc:"Submit for this user; for administrators only"`
	Group string `header:"X-Fairlead-Group" hidden:"true"`
	Trace string `header:"Traceparent" doc:"The trace to which the jobs belong, as W3C writes it; tasks find it in TRACEPARENT"`
	Body  api.SubmitRequest
}

func (s *Server) submit(ctx context.Context, in *submitInput) (*body[api.SubmitResponse], error) {
	me := who(ctx)
	owner, group := me.User, me.group
	if in.As != "" && in.As != me.User {
		owner, group = in.As, in.Group
	}
	if err := check(me, doSubmit, owner); err != nil {
		return nil, err
	}
	jobs := make([]fairlead.Job, len(in.Body.Jobs))
	for i := range jobs {
		if err := in.Body.Jobs[i].CheckArgs(); err != nil {
			return nil, err
		}
		jobs[i] = in.Body.Jobs[i].ToJob()
		jobs[i].User, jobs[i].Group = owner, group
		if err := checkNice(me, jobs[i].Nice); err != nil {
			return nil, err
		}
	}
	out := api.SubmitResponse{Version: api.Version, Jobs: make([]api.Submitted, len(jobs))}
	if in.Body.DryRun {
		for i := range jobs {
			out.Jobs[i] = s.dryRun(ctx, jobs[i], fairlead.TryOptions{Unsatisfiable: in.Body.Unsatisfiable, Estimate: len(jobs) == 1})
		}
		return answer(out), nil
	}
	submit := s.options.Loop.Submit
	if in.Body.Unsatisfiable {
		submit = s.options.Loop.SubmitAnyway
	}
	end := s.traced(in.Trace, owner, jobs)
	asked := time.Now()
	subs, err := submit(ctx, jobs)
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
	return answer(out), nil
}

// describe adds to a submission where the job went and stands.
func (s *Server) describe(ctx context.Context, sub *api.Submitted, estimate bool) {
	j, err := s.options.Loop.Client().Job(ctx, sub.ID)
	if err != nil {
		return
	}
	sub.Pool, sub.User, sub.Tasks = j.Pool, j.User, j.Tasks
	s.tellLimit(sub, j.Limit)
	if j.State != fairlead.Waiting && j.State != fairlead.Blocked {
		return
	}
	if _, waiting := s.options.Loop.Running(); waiting > manyWaiting && !estimate {
		s.describeShortly(ctx, sub, j, waiting)
		return
	}
	a, err := s.options.Loop.Why(ctx, sub.ID, fairlead.WhyOptions{Siblings: 1, Estimate: estimate})
	if err != nil {
		return
	}
	tell(sub, a)
}

// tell adds to a submission what an answer says of it.
func tell(sub *api.Submitted, a *why.Answer) {
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

// needsHelp reports whether whoever submits a job is warned: time alone will never start it,
// or a shorter time limit would let it start sooner than the maintenance in its way ends.
func needsHelp(c why.Code) bool {
	switch c {
	case why.FitNever, why.LicenseNever, why.GateNever, why.NoNodes, why.ReservationOver, why.PolicyMaint, why.PolicyReservation:
		return true
	}
	return false
}

// manyWaiting is from how many waiting tasks on a submission is answered without a
// preview of its own: that takes as long as there are tasks before it, and holds up
// everybody.
const manyWaiting = 1000

// describeShortly takes place and reason from the order that lists of jobs share.
func (s *Server) describeShortly(ctx context.Context, sub *api.Submitted, j *fairlead.Job, waiting int64) {
	r, ok := s.options.Loop.ShortReasons(ctx, []*fairlead.Job{j})[j.ID]
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

// dryRun says what would become of a job, by a fork of the scheduler.
func (s *Server) dryRun(ctx context.Context, j fairlead.Job, o fairlead.TryOptions) api.Submitted {
	a, tasks, err := s.options.Loop.Try(ctx, j, o)
	if err != nil {
		return api.Submitted{Error: api.FromError(err)}
	}
	out := api.Submitted{Pool: a.Subject.Pool, User: j.User, Tasks: tasks}
	tell(&out, a)
	s.tellLimit(&out, time.Duration(a.Subject.Limit*float64(time.Second)))
	return out
}

// tellLimit adds the time limit to a submission, and a hint if it should have one.
func (s *Server) tellLimit(sub *api.Submitted, limit time.Duration) {
	sub.LimitSeconds = limit.Seconds()
	if limit == 0 && s.options.Loop.Client().PlansByLimits() {
		sub.Hint = "no time limit: it is planned to run for a year, and seldom fits before others; give one with -t"
	}
}

type listInput struct {
	IDs    []int64   `query:"ids,explode" doc:"These jobs only"`
	User   string    `query:"user"`
	Pool   string    `query:"pool" doc:"This pool and those below it"`
	Kind   string    `query:"kind"`
	States []string  `query:"state,explode" doc:"held, blocked, waiting, queued, running, succeeded, failed, cancelled"`
	Since  time.Time `query:"since" doc:"Leave out what ended before"`
	After  int64     `query:"after" doc:"Ids above this"`
	Before int64     `query:"before" doc:"Ids below this"`
	Newest bool      `query:"newest" doc:"By id, descending"`
	Limit  int       `query:"limit" minimum:"1" maximum:"10000" default:"1000"`
	Next   bool      `query:"next" doc:"Of those that run or wait, not the ones with the lowest ids, but those that run and those that would start next; after, before and newest do not count"`
	Rank   bool      `query:"rank" doc:"Add places in the order of starts, and reasons"`
	Start  bool      `query:"start" doc:"Add by when the waiting ones will start, as far as that is known within 100 ms"`
}

// maxBridged is of how many tasks of a job a list says where they are.
const maxBridged = 10

func (s *Server) list(ctx context.Context, in *listInput) (*body[api.JobList], error) {
	q := fairlead.Query{
		IDs: in.IDs, User: in.User, Pool: in.Pool, Kind: in.Kind, Since: in.Since,
		After: in.After, Before: in.Before, Newest: in.Newest, Limit: in.Limit,
	}
	for _, st := range in.States {
		q.States = append(q.States, fairlead.State(st))
	}
	out, err := s.jobs(ctx, q, web.JobOptions{Next: in.Next, Rank: in.Rank, Start: in.Start})
	if err != nil {
		return nil, err
	}
	return answer(*out), nil
}

// jobs lists the jobs that match, up to the limit of the query.
func (s *Server) jobs(ctx context.Context, q fairlead.Query, o web.JobOptions) (*api.JobList, error) {
	if err := checkStates(q.States); err != nil {
		return nil, err
	}
	limit := q.Limit
	q.Limit++
	ask := s.options.Loop.Client().Jobs
	if o.Next {
		ask = s.next
	}
	jobs, err := ask(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &api.JobList{Version: api.Version, At: time.Now(), Summary: s.summary(), Jobs: []api.Job{}}
	if out.More = len(jobs) > limit; out.More {
		jobs = jobs[:limit]
	}
	var reasons map[int64]fairlead.ShortReason
	var priorities map[int64]why.Terms
	if o.Rank {
		reasons = s.reasons(ctx, jobs, o.Soon)
		priorities = s.options.Loop.Priorities(ctx, jobs)
	}
	var starts map[int64]fairlead.Coming
	if o.Start {
		starts = s.options.Loop.Starts(ctx, jobs)
	}
	running := s.options.Loop.RunningSince(jobs)
	for _, j := range jobs {
		d := api.FromJob(j)
		if since, ok := running[j.ID]; ok {
			d.RunsSince = &since
		}
		// Data and environment of a job may have hundreds of kilobytes.
		d.Env, d.Payload, d.Args = nil, nil, nil
		if r, ok := reasons[j.ID]; ok {
			d.Rank, d.Reason = r.Rank, &api.Reason{Code: string(r.Code), Text: r.Text}
		}
		if j.Running > 0 {
			d.Bridged = s.bridged.of(j.ID)
			d.Bridged = d.Bridged[:min(len(d.Bridged), maxBridged)]
		}
		d.Reason = cmp.Or(d.Reason, heldReason(j, d.Bridged))
		if st, ok := starts[j.ID]; ok {
			d.StartBy, d.StartKept = &st.By, st.Kept
		}
		if t, ok := priorities[j.ID]; ok {
			d.SetPriority(t)
		}
		out.Jobs = append(out.Jobs, d)
	}
	return out, nil
}

// next are jobs that run, at most half of what is asked for, and those that would start next.
func (s *Server) next(ctx context.Context, q fairlead.Query) ([]*fairlead.Job, error) {
	client, limit := s.options.Loop.Client(), q.Limit
	q.After, q.Before, q.Newest = 0, 0, false
	q.States, q.Limit = []fairlead.State{fairlead.Queued, fairlead.Running}, limit/2
	jobs, err := client.Jobs(ctx, q)
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	for _, j := range jobs {
		seen[j.ID] = true
	}
	q.States, q.Limit = []fairlead.State{fairlead.Waiting, fairlead.Queued, fairlead.Running}, 0
	order := s.options.Loop.Next(ctx, q.Pool, limit-len(jobs))
	if q.IDs = slices.Clone(order); len(order) == 0 {
		return jobs, nil
	}
	more, err := client.Jobs(ctx, q)
	of := map[int64]*fairlead.Job{}
	for _, j := range more {
		of[j.ID] = j
	}
	for _, id := range order {
		if j := of[id]; j != nil && !seen[id] {
			jobs = append(jobs, j)
		}
	}
	return jobs, err
}

func checkStates(states []fairlead.State) error {
	known := fairlead.States()
	for _, st := range states {
		found := false
		for _, k := range known {
			found = found || k == st
		}
		if !found {
			return &fairlead.Invalid{Field: "state", Msg: fmt.Sprintf("%.40q is not a state; known: %s", st, joinStates(known))}
		}
	}
	return nil
}

func joinStates(states []fairlead.State) string {
	names := make([]string, len(states))
	for i, st := range states {
		names[i] = string(st)
	}
	return strings.Join(names, ", ")
}

type alterInput struct{ Body api.AlterRequest }

// alter changes those of the jobs that the actor may change, and says so for each.
func (s *Server) alter(ctx context.Context, in *alterInput) (*body[api.AlterResponse], error) {
	me := who(ctx)
	if err := checkWords("cause", in.Body.Cause); err != nil {
		return nil, err
	}
	if in.Body.Nice != nil {
		if err := checkNice(me, *in.Body.Nice); err != nil {
			return nil, err
		}
	}
	client := s.options.Loop.Client()
	jobs, err := client.Jobs(ctx, fairlead.Query{IDs: in.Body.Jobs})
	if err != nil {
		return nil, err
	}
	owner, queued := map[int64]string{}, map[int64]int{}
	for _, j := range jobs {
		owner[j.ID], queued[j.ID] = j.User, j.Queued
	}
	out := api.AlterResponse{Version: api.Version, Results: make([]*api.Error, len(in.Body.Jobs))}
	var changes []fairlead.Alteration
	var at []int
	for i, id := range in.Body.Jobs {
		if _, known := owner[id]; !known {
			out.Results[i] = api.FromError(fmt.Errorf("job %d: %w", id, fairlead.ErrNotFound))
			continue
		}
		if err := check(me, doAlter, owner[id]); err != nil {
			out.Results[i] = api.FromError(fmt.Errorf("job %d: %w", id, err))
			continue
		}
		changes = append(changes, fairlead.Alteration{
			Job: id, Verb: fairlead.Verb(in.Body.Verb), Priority: in.Body.Priority, QOS: in.Body.QOS, Nice: in.Body.Nice, Pool: in.Body.Pool,
			Cause: cmp.Or(in.Body.Cause, "by "+me.User),
		})
		at = append(at, i)
	}
	errs, err := client.Alter(ctx, changes...)
	if err != nil {
		return nil, err
	}
	for k, err := range errs {
		out.Results[at[k]] = api.FromError(err)
		if id := changes[k].Job; err == nil && changes[k].Verb == fairlead.VerbHold && queued[id] > 0 {
			out.Notes = append(out.Notes, beyondHold(id, queued[id]))
		}
	}
	return answer(out), nil
}

// beyondHold says what a hold does not reach: what a bridge has handed over waits elsewhere.
func beyondHold(id int64, tasks int) string {
	return fmt.Sprintf("job %d waits in another queueing system already, with %d of its tasks, and goes on there; to take it back to where it is held: fairlead requeue %d", id, tasks, id)
}

type stopsInput struct {
	Since time.Time `query:"since" doc:"Leave out what was stopped before"`
	Job   int64     `query:"job" doc:"This job only"`
	Limit int       `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"The latest, if there are more"`
}

func (s *Server) stops(ctx context.Context, in *stopsInput) (*body[api.StopList], error) {
	stops, err := s.options.Loop.Stops(ctx, fairlead.StopQuery{Job: in.Job, Since: in.Since, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := api.StopList{Version: api.Version, At: time.Now(), Stops: []why.Stop{}}
	for i := range stops {
		out.Stops = append(out.Stops, stops[i].Reason)
	}
	return answer(out), nil
}
