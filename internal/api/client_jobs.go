package api

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/why"
)

// maxPage is the largest number of entries of a list that the interface returns at once.
const maxPage = 10_000

// Versus is a comparison with its units.
type Versus struct {
	Comparison *why.Comparison `json:"comparison"`
	Units      why.Units       `json:"units"`
}

// Submit submits jobs.
func (s *jobsService) Submit(ctx context.Context, r SubmitRequest) (*SubmitResponse, error) {
	for i := range r.Jobs {
		if err := r.Jobs[i].checkText(); err != nil {
			return nil, err
		}
	}
	return post[SubmitResponse](ctx, s.client, "/v1/jobs", r)
}

// List lists jobs; see the query parameters of the interface.
func (s *jobsService) List(ctx context.Context, q url.Values) (*JobList, error) {
	return get[JobList](ctx, s.client, "/v1/jobs", q)
}

// Get returns a job with all its tasks. It requests them page by page.
func (s *jobsService) Get(ctx context.Context, id int64) (*JobResponse, error) {
	whole, err := s.Tasks(ctx, id, -1, maxPage)
	for err == nil && whole.More {
		var next *JobResponse
		if next, err = s.Tasks(ctx, id, whole.Tasks[len(whole.Tasks)-1].Task, maxPage); err == nil {
			next.Tasks = append(whole.Tasks, next.Tasks...)
			whole = next
		}
	}
	return whole, err
}

// Tasks returns a job with some of its tasks: at most "limit" tasks whose index is above the argument "after", which is
// -1 for the first ones.
func (s *jobsService) Tasks(ctx context.Context, id int64, after, limit int) (*JobResponse, error) {
	q := url.Values{"after": {strconv.Itoa(after)}, "limit": {strconv.Itoa(limit)}}
	return get[JobResponse](ctx, s.client, fmt.Sprint("/v1/jobs/", id), q)
}

// Alter changes jobs.
func (s *jobsService) Alter(ctx context.Context, r AlterRequest) (*AlterResponse, error) {
	return post[AlterResponse](ctx, s.client, "/v1/jobs/alter", r)
}

// History returns the events of a task of a job, or of the whole job if the task is -1. It requests them page by page.
func (s *jobsService) History(ctx context.Context, id int64, task int) (*History, error) {
	var whole History
	for {
		q := url.Values{"task": {strconv.Itoa(task)}, "after": {strconv.Itoa(len(whole.Events))}, "limit": {strconv.Itoa(maxPage)}}
		next, err := get[History](ctx, s.client, fmt.Sprintf("/v1/jobs/%d/history", id), q)
		if err != nil {
			return nil, err
		}
		next.Events = append(whole.Events, next.Events...)
		if whole = *next; !whole.More {
			return &whole, nil
		}
	}
}

// Stops lists the tasks that were stopped to make room for others, oldest first. If job is above 0, it lists only the
// tasks of that job. If there are more than "limit", it lists the latest ones.
func (s *jobsService) Stops(ctx context.Context, since time.Time, job int64, limit int) (*StopList, error) {
	q := url.Values{"since": {since.Format(time.RFC3339Nano)}, "limit": {strconv.Itoa(limit)}}
	if job > 0 {
		q.Set("job", strconv.FormatInt(job, 10))
	}
	return get[StopList](ctx, s.client, "/v1/stops", q)
}

// Why explains the state of a job.
func (s *jobsService) Why(ctx context.Context, id int64, o explain.WhyOptions) (*why.Answer, error) {
	q := url.Values{"siblings": {strconv.Itoa(o.Siblings)}}
	if o.Evidence {
		q.Set("evidence", "true")
	}
	if o.Estimate {
		q.Set("estimate", "true")
	}
	return get[why.Answer](ctx, s.client, fmt.Sprintf("/v1/jobs/%d/why", id), q)
}

// WhatIf predicts the effect of a changed request of a job.
func (s *jobsService) WhatIf(ctx context.Context, id int64, v Variation) (*why.WhatIf, error) {
	return post[why.WhatIf](ctx, s.client, fmt.Sprintf("/v1/jobs/%d/what-if", id), v)
}

// Versus says which of two jobs goes first.
func (s *jobsService) Versus(ctx context.Context, id int64, other string) (*Versus, error) {
	return get[Versus](ctx, s.client, fmt.Sprintf("/v1/jobs/%d/versus", id), url.Values{"other": {other}})
}

// Log returns a part of a task's output.
func (s *jobsService) Log(ctx context.Context, id int64, q url.Values) (*LogChunk, error) {
	return get[LogChunk](ctx, s.client, fmt.Sprintf("/v1/jobs/%d/log", id), q)
}

// Reorder returns how the order of starts would change; it changes nothing.
func (s *jobsService) Reorder(ctx context.Context, r ReorderRequest) (*Reorder, error) {
	return post[Reorder](ctx, s.client, "/v1/jobs/reorder", r)
}
