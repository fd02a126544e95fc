package server

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

type idInput struct {
	ID int64 `path:"id"`
}

func (s *Server) job(ctx context.Context, in *idInput) (*body[api.JobResponse], error) {
	j, tasks, err := s.jobAndTasks(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(s.jobOf(ctx, j, tasks)), nil
}

func (s *Server) jobAndTasks(ctx context.Context, id int64) (*fairlead.Job, []fairlead.Task, error) {
	j, err := s.options.Loop.Client().Job(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	tasks, err := s.options.Loop.Client().Tasks(ctx, id)
	return j, tasks, err
}

// jobOf is a job as the one who asks may see it.
func (s *Server) jobOf(ctx context.Context, j *fairlead.Job, tasks []fairlead.Task) api.JobResponse {
	out := api.JobResponse{Version: api.Version, Job: shown(who(ctx), j), Tasks: make([]api.Task, 0, len(tasks))}
	if j.Running > 0 {
		out.Job.Bridged = s.bridged.of(j.ID)
	}
	for i := range tasks {
		out.Tasks = append(out.Tasks, api.FromTask(&tasks[i]))
	}
	return out
}

func (s *Server) history(ctx context.Context, in *idInput) (*body[api.History], error) {
	events, err := s.options.Loop.History(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(historyOf(in.ID, events)), nil
}

func historyOf(job int64, events []fairlead.Event) api.History {
	out := api.History{Version: api.Version, Job: job, Events: make([]api.Event, 0, len(events))}
	for _, e := range events {
		out.Events = append(out.Events, api.FromEvent(e))
	}
	return out
}
