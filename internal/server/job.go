package server

import (
	"context"
	"slices"
	"sort"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

type jobInput struct {
	ID    int64 `path:"id"`
	After int   `query:"after" minimum:"-1" default:"-1" doc:"Tasks with an index above this"`
	Limit int   `query:"limit" minimum:"0" maximum:"10000" default:"1000" doc:"Maximum number of tasks; 0: the job without its tasks"`
}

// jobPage returns a job with a page of its tasks: an array may have hundreds of thousands.
func (s *jobService) jobPage(ctx context.Context, in *jobInput) (*api.JobResponse, error) {
	if in.Limit == 0 {
		j, err := s.loop.Client().Job(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		out := s.jobOf(ctx, j, nil)
		out.More = j.Tasks > 0
		return &out, nil
	}
	j, tasks, err := s.jobAndTasks(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	from := sort.Search(len(tasks), func(i int) bool { return tasks[i].Index > in.After })
	to := min(len(tasks), from+in.Limit)
	out := s.jobOf(ctx, j, tasks[from:to])
	out.More = to < len(tasks)
	return &out, nil
}

// Job returns a job with all its tasks.
func (s *jobService) Job(ctx context.Context, id int64) (*api.JobResponse, error) {
	j, tasks, err := s.jobAndTasks(ctx, id)
	if err != nil {
		return nil, err
	}
	out := s.jobOf(ctx, j, tasks)
	return &out, nil
}

func (s *jobService) jobAndTasks(ctx context.Context, id int64) (*queue.Job, []queue.Task, error) {
	j, err := s.loop.Client().Job(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	tasks, err := s.loop.Client().Tasks(ctx, id)
	return j, tasks, err
}

// jobOf converts a job for the actor.
func (s *jobService) jobOf(ctx context.Context, j *queue.Job, tasks []queue.Task) api.JobResponse {
	out := api.JobResponse{Version: api.Version, Job: shown(who(ctx), j), Tasks: make([]api.Task, 0, len(tasks))}
	if j.Running > 0 {
		out.Job.Bridged = s.bridged.of(j.ID)
		out.Job.Used = s.bridged.used.of(j.ID)
	}
	for i := range tasks {
		out.Tasks = append(out.Tasks, api.FromTask(&tasks[i]))
	}
	return out
}

type jobHistoryInput struct {
	ID    int64 `path:"id"`
	Task  int   `query:"task" minimum:"-1" default:"-1" doc:"Events of the task with this index only"`
	After int   `query:"after" minimum:"0" doc:"Number of the oldest events to omit"`
	Limit int   `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Maximum number of events"`
}

// historyPage returns a page of the events of a job.
func (s *jobService) historyPage(ctx context.Context, in *jobHistoryInput) (*api.History, error) {
	events, err := s.explainer.History(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Task >= 0 {
		events = slices.DeleteFunc(events, func(e queue.Event) bool { return e.Task != in.Task })
	}
	from := min(in.After, len(events))
	to := min(len(events), from+in.Limit)
	out := historyOf(in.ID, events[from:to])
	out.More = to < len(events)
	return &out, nil
}

// History returns a job with its tasks, its last end and its events.
func (s *jobService) History(ctx context.Context, id int64) (*api.JobResponse, *api.History, error) {
	j, tasks, err := s.jobAndTasks(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	events, err := s.explainer.HistoryOf(ctx, j, tasks)
	job, history := s.jobOf(ctx, j, tasks), historyOf(id, events)
	if last, ended := queue.LastEnd(tasks); ended {
		t := api.FromTask(&last)
		job.Job.LastEnd = &t
	}
	return &job, &history, err
}

func historyOf(job int64, events []queue.Event) api.History {
	out := api.History{Version: api.Version, Job: job, Events: make([]api.Event, 0, len(events))}
	for _, e := range events {
		out.Events = append(out.Events, api.FromEvent(e))
	}
	return out
}
