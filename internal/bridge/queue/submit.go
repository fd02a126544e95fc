package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

// Submit submits the jobs of each user as that user. The marker is the job's key, so if a submission
// arrives twice there is only one job.
func (q *Queue) Submit(ctx context.Context, all []bridge.Submission) ([]bridge.Receipt, error) {
	out := make([]bridge.Receipt, len(all))
	for begin := 0; begin < len(all); {
		end := begin + 1
		for end < len(all) && all[end].Job.User == all[begin].Job.User {
			end++
		}
		if err := q.submit(ctx, all[begin:end], out[begin:end]); err != nil {
			return nil, err
		}
		begin = end
	}
	return out, nil
}

func (q *Queue) submit(ctx context.Context, all []bridge.Submission, out []bridge.Receipt) error {
	req := api.SubmitRequest{Unsatisfiable: true} // the other queue decides when it has room
	var at []int
	for i := range all {
		spec, err := q.spec(&all[i])
		if err != nil {
			out[i].Err = err
			continue
		}
		req.Jobs = append(req.Jobs, spec)
		at = append(at, i)
	}
	if len(at) == 0 {
		return nil
	}
	resp, err := q.clientFor(all[0].Job.User).Jobs.Submit(ctx, req)
	if errors.Is(err, queue.ErrInvalid) || errors.Is(err, queue.ErrForbidden) {
		for _, i := range at {
			out[i].Err = bridge.Explain(queue.ErrInvalid, "%v", err)
		}
		return nil
	}
	if err != nil {
		return q.explain(err)
	}
	if len(resp.Jobs) != len(at) {
		return fmt.Errorf("%d answers for %d jobs", len(resp.Jobs), len(at))
	}
	for k, i := range at {
		if e := resp.Jobs[k].Error; e != nil {
			out[i].Err = e.Err()
		} else {
			out[i].ID = strconv.FormatInt(resp.Jobs[k].ID, 10)
		}
	}
	return nil
}

// spec returns the job for the other server. The bridge handles dependencies, retries and arrays itself.
func (q *Queue) spec(s *bridge.Submission) (api.Spec, error) {
	if s.Priority < 0 || s.Priority >= int64(len(q.o.Levels)) {
		return api.Spec{}, bridge.Explain(queue.ErrInvalid, "the level %d is not from 0 to %d", s.Priority,
			len(q.o.Levels)-1)
	}
	j := s.Job
	spec := api.Spec{
		Name: j.Name, Pool: q.o.Pool, Priority: q.o.Levels[s.Priority], Argv: j.Argv, Payload: j.Payload, Script: j.Script,
		Env: s.Variables(), Dir: j.Dir, Output: j.Output, Error: j.Error, Request: j.Request, Constraint: q.o.Constraint,
		LimitSeconds: j.Limit.Seconds(), Key: s.Marker,
	}
	if j.Limit == 0 {
		spec.LimitSeconds = -1
	}
	return spec, nil
}

// clientFor returns the client that submits jobs of a user.
func (q *Queue) clientFor(name string) *api.Client {
	if name == q.me || name == "" {
		return q.client
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.as[name] == nil {
		c, err := api.Dial(q.o.Address, q.o.Trusted...)
		if err != nil {
			return q.client // cannot happen: Open dialed the same address
		}
		c.As = name
		q.as[name] = c
	}
	return q.as[name]
}
