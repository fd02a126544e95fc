package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// jobService lists and changes jobs.
type jobService struct {
	loop       *engine.Loop
	explainer  *explain.Explainer
	forecaster *forecast.Forecaster
	bridged    *bridged
}

type listInput struct {
	IDs     []int64   `query:"ids,explode" doc:"These jobs only"`
	User    string    `query:"user"`
	Pool    string    `query:"pool" doc:"This pool and those below it: its path, or a user for the user's pool"`
	Kind    string    `query:"kind"`
	States  []string  `query:"state,explode" doc:"held, blocked, waiting, queued, running, succeeded, failed, cancelled"`
	Failing bool      `query:"failing" doc:"With state: also jobs that have not ended and have a failed task"`
	Waits   bool      `query:"waits" doc:"Only jobs with a waiting task; other tasks may run"`
	Since   time.Time `query:"since" doc:"Omit jobs that ended before"`
	After   int64     `query:"after" doc:"Jobs with larger ids"`
	Before  int64     `query:"before" doc:"Jobs with smaller ids"`
	Newest  bool      `query:"newest" doc:"In order of descending ids"`
	Limit   int       `query:"limit" minimum:"1" maximum:"10000" default:"1000"`
	Next    bool      `query:"next" doc:"List running jobs and the jobs that would start next, instead of the jobs with the lowest ids; with the state waiting, only the jobs that would start next. after, before and newest have no effect"`
	Rank    bool      `query:"rank" doc:"Add ranks in the order of starts, and reasons"`
	Ends    bool      `query:"ends" doc:"Add how each job ended: its last ended task or last failed task"`
	Start   bool      `query:"start" doc:"Add estimated starts of waiting jobs, as far as they are known within 100 ms"`
}

// maxBridged limits the tasks of a job whose places in another queueing system a list shows.
const maxBridged = 10

func (s *jobService) list(ctx context.Context, in *listInput) (*api.JobList, error) {
	var err error
	if in.Pool, err = s.poolAsked(ctx, in.Pool); err != nil {
		return nil, err
	}
	q := queue.Query{
		IDs: in.IDs, User: in.User, Pool: in.Pool, Kind: in.Kind, Failing: in.Failing, Waits: in.Waits, Since: in.Since,
		After: in.After, Before: in.Before, Newest: in.Newest, Limit: in.Limit,
	}
	for _, st := range in.States {
		q.States = append(q.States, queue.State(st))
	}
	out, err := s.jobs(ctx, q, web.JobOptions{Next: in.Next, Rank: in.Rank, Start: in.Start, Ends: in.Ends})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// poolAsked returns the path of the pool that a request names. A pool that left the tree is known while it has jobs.
func (s *jobService) poolAsked(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	path, missing := s.loop.Intake.PoolPath(ctx, name)
	if !errors.Is(missing, queue.ErrNotFound) {
		return path, missing
	}
	for _, path := range share.Named(name) {
		jobs, err := s.loop.Client().Jobs(ctx, queue.Query{Pool: path, Limit: 1})
		if err != nil {
			return "", err
		}
		if len(jobs) > 0 {
			return path, nil
		}
	}
	return "", missing
}

// jobs lists the jobs that match, up to the limit of the query.
func (s *jobService) jobs(ctx context.Context, q queue.Query, o web.JobOptions) (*api.JobList, error) {
	if err := checkStates(q.States); err != nil {
		return nil, err
	}
	limit := q.Limit
	q.Limit++
	ask := s.loop.Client().Jobs
	if o.Next {
		ask = s.next
	}
	jobs, err := ask(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &api.JobList{Version: api.Version, At: time.Now(), Summary: summaryOf(s.loop), Jobs: []api.Job{}}
	if out.More = len(jobs) > limit; out.More {
		jobs = jobs[:limit]
	}
	var reasons map[int64]explain.ShortReason
	var priorities map[int64]why.Terms
	if o.Rank {
		reasons = s.reasons(ctx, jobs, o.Soon)
		priorities = s.explainer.Priorities(ctx, jobs)
	}
	var starts map[int64]forecast.Coming
	if o.Start {
		starts = s.forecaster.Starts(ctx, jobs)
	}
	var ends map[int64]*api.Task
	if o.Ends {
		if ends, err = s.ends(ctx, jobs); err != nil {
			return nil, err
		}
	}
	now := views.TasksOf(s.loop, jobs)
	for _, j := range jobs {
		d := api.FromJob(j)
		tasks, started := now[j.ID]
		if started {
			d.RunsSince, d.Nodes = &tasks.Since, tasks.Nodes
		}
		d.LastEnd = ends[j.ID]
		// The data and environment of a job may take hundreds of kilobytes.
		d.Env, d.Payload, d.Args = nil, nil, nil
		if r, ok := reasons[j.ID]; ok {
			d.Rank, d.Reason = r.Rank, &api.Reason{Code: string(r.Code), Text: r.Text}
		}
		if j.Running > 0 {
			d.Bridged = s.bridged.of(j.ID)
			d.Bridged = d.Bridged[:min(len(d.Bridged), maxBridged)]
			d.Used = s.bridged.used.of(j.ID)
		}
		d.Reason = cmp.Or(d.Reason, heldReason(j, d.Bridged), stoppedReason(tasks))
		if st, ok := starts[j.ID]; ok {
			d.StartBy, d.StartKept, d.StartPredicted = &st.By, st.Kept, st.Predicted
		}
		if t, ok := priorities[j.ID]; ok {
			d.SetPriority(t)
		}
		out.Jobs = append(out.Jobs, d)
	}
	return out, nil
}

// ends returns how jobs ended. For jobs that have not ended, it returns how attempts ended. It returns nothing if
// the store does not report that.
func (s *jobService) ends(ctx context.Context, jobs []*queue.Job) (map[int64]*api.Task, error) {
	reader, can := s.loop.Store.(queue.EndReader)
	if !can {
		return nil, nil
	}
	var ids []int64
	for _, j := range jobs {
		if !j.Started.IsZero() {
			ids = append(ids, j.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	tasks, err := reader.Ends(ctx, ids)
	out := map[int64]*api.Task{}
	for i := range tasks {
		t := api.FromTask(&tasks[i])
		out[t.Job] = &t
	}
	return out, err
}

// reasons returns why jobs wait, and their places in the order. The flag "soon" is for a page, which does not wait for
// the places.
func (s *jobService) reasons(ctx context.Context, jobs []*queue.Job, soon bool) map[int64]explain.ShortReason {
	order := s.explainer.Order
	if soon {
		order = s.explainer.CachedOrder
	}
	return s.explainer.ReasonsIn(order(ctx), jobs)
}

func checkStates(states []queue.State) error {
	known := queue.States()
	for _, st := range states {
		found := false
		for _, k := range known {
			found = found || k == st
		}
		if !found {
			return &queue.Invalid{Field: "state", Msg: fmt.Sprintf("%.40q is not a state; known: %s", st, joinStates(known))}
		}
	}
	return nil
}

func joinStates(states []queue.State) string {
	names := make([]string, len(states))
	for i, st := range states {
		names[i] = string(st)
	}
	return strings.Join(names, ", ")
}

type stopsInput struct {
	Since time.Time `query:"since" doc:"Omit earlier stops"`
	Job   int64     `query:"job" doc:"This job only"`
	Limit int       `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Maximum number of stops, the latest"`
}

func (s *jobService) stops(ctx context.Context, in *stopsInput) (*api.StopList, error) {
	stops, err := s.loop.Stops(ctx, queue.StopQuery{Job: in.Job, Since: in.Since, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := api.StopList{Version: api.Version, At: time.Now(), Stops: []why.Stop{}}
	for i := range stops {
		out.Stops = append(out.Stops, stops[i].Reason)
	}
	return &out, nil
}

// next returns running jobs, at most half of the requested number, and the jobs that would start next; for a request
// for waiting jobs, only the latter. Jobs outside the order of starts come last.
func (s *jobService) next(ctx context.Context, q queue.Query) ([]*queue.Job, error) {
	client, limit := s.loop.Client(), q.Limit
	waiting := slices.Equal(q.States, []queue.State{queue.Waiting})
	q.After, q.Before, q.Newest = 0, 0, false
	var jobs []*queue.Job
	if !waiting {
		var err error
		q.States, q.Limit = []queue.State{queue.Queued, queue.Running}, limit/2
		if jobs, err = client.Jobs(ctx, q); err != nil {
			return nil, err
		}
	}
	seen := map[int64]bool{}
	for _, j := range jobs {
		seen[j.ID] = true
	}
	coming, err := s.coming(ctx, q, limit-len(jobs))
	if err != nil {
		return nil, err
	}
	if waiting && len(coming) < limit {
		q.States, q.Limit = []queue.State{queue.Waiting}, limit
		rest, err := client.Jobs(ctx, q)
		if err != nil {
			return nil, err
		}
		coming = append(coming, rest...)
	}
	for _, j := range coming {
		if !seen[j.ID] && len(jobs) < limit {
			seen[j.ID] = true
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// coming returns the first jobs in the order of starts that match a query.
func (s *jobService) coming(ctx context.Context, q queue.Query, most int) ([]*queue.Job, error) {
	look := most
	if q.User != "" || q.Kind != "" || len(q.IDs) > 0 || !q.Since.IsZero() {
		look = math.MaxInt // jobs that do not match may be between them
	}
	order := s.explainer.Next(ctx, q.Pool, look)
	if asked := q.IDs; len(asked) > 0 {
		order = slices.DeleteFunc(order, func(id int64) bool { return !slices.Contains(asked, id) })
	}
	q.States, q.Limit = []queue.State{queue.Waiting, queue.Queued, queue.Running}, 0
	var out []*queue.Job
	for chunk := range slices.Chunk(order, 1000) {
		if len(out) >= most {
			break
		}
		q.IDs = slices.Clone(chunk)
		found, err := s.loop.Client().Jobs(ctx, q)
		if err != nil {
			return nil, err
		}
		of := map[int64]*queue.Job{}
		for _, j := range found {
			of[j.ID] = j
		}
		for _, id := range chunk {
			if j := of[id]; j != nil && len(out) < most {
				out = append(out, j)
			}
		}
	}
	return out, nil
}
