package server

import (
	"context"
	"slices"
	"sort"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

type jobInput struct {
	ID    int64 `path:"id"`
	After int   `query:"after" minimum:"-1" default:"-1" doc:"Tasks with an index above this"`
	Limit int   `query:"limit" minimum:"0" maximum:"10000" default:"1000" doc:"Tasks at once; 0: the job without its tasks"`
}

// job is a job with a page of its tasks: an array may have hundreds of thousands.
func (s *Server) job(ctx context.Context, in *jobInput) (*body[api.JobResponse], error) {
	if in.Limit == 0 {
		j, err := s.options.Loop.Client().Job(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		out := s.jobOf(ctx, j, nil)
		out.More = j.Tasks > 0
		return answer(out), nil
	}
	j, tasks, err := s.jobAndTasks(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	from := sort.Search(len(tasks), func(i int) bool { return tasks[i].Index > in.After })
	to := min(len(tasks), from+in.Limit)
	out := s.jobOf(ctx, j, tasks[from:to])
	out.More = to < len(tasks)
	return answer(out), nil
}

// whole is a job with all its tasks.
func (s *Server) whole(ctx context.Context, id int64) (*api.JobResponse, error) {
	j, tasks, err := s.jobAndTasks(ctx, id)
	if err != nil {
		return nil, err
	}
	out := s.jobOf(ctx, j, tasks)
	return &out, nil
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

type jobHistoryInput struct {
	ID    int64 `path:"id"`
	Task  int   `query:"task" minimum:"-1" default:"-1" doc:"Events of the task with this index only"`
	After int   `query:"after" minimum:"0" doc:"Leave out so many of the oldest"`
	Limit int   `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Events at once"`
}

// history is a page of what happened to a job.
func (s *Server) history(ctx context.Context, in *jobHistoryInput) (*body[api.History], error) {
	events, err := s.options.Loop.History(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Task >= 0 {
		events = slices.DeleteFunc(events, func(e fairlead.Event) bool { return e.Task != in.Task })
	}
	from := min(in.After, len(events))
	to := min(len(events), from+in.Limit)
	out := historyOf(in.ID, events[from:to])
	out.More = to < len(events)
	return answer(out), nil
}

func historyOf(job int64, events []fairlead.Event) api.History {
	out := api.History{Version: api.Version, Job: job, Events: make([]api.Event, 0, len(events))}
	for _, e := range events {
		out.Events = append(out.Events, api.FromEvent(e))
	}
	return out
}
