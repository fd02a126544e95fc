package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) logRoutes(a huma.API) {
	handle(a, http.MethodGet, "/v1/jobs/{id}/log", "job-log", "A part of a task's output", 0, s.logs)
}

type logInput struct {
	ID      int64   `path:"id"`
	Task    int     `query:"task" default:"-1" doc:"Index of the task; default: the only one, or the first that started"`
	Attempt int     `query:"attempt" doc:"Default: the last one"`
	Stderr  bool    `query:"stderr" doc:"The error output, if it is kept apart"`
	Offset  int64   `query:"offset" doc:"Where to begin; below 0: so far from the end"`
	Limit   int     `query:"limit" minimum:"1" maximum:"1048576" default:"65536"`
	Wait    float64 `query:"wait_seconds" maximum:"60" doc:"Wait so long for more, if there is nothing"`
}

// logTimeout is how long an agent may take to answer.
const logTimeout = 10 * time.Second

// logs asks the agent that runs or ran the task for a part of its output.
func (s *Server) logs(ctx context.Context, in *logInput) (*body[api.LogChunk], error) {
	deadline := time.Now().Add(time.Duration(in.Wait * float64(time.Second)))
	for {
		t, err := s.logTask(ctx, in)
		if err != nil {
			return nil, err
		}
		ended := t.State != fairlead.Running || in.Attempt > 0 && in.Attempt < t.Attempt
		chunk := &api.LogChunk{}
		if x := s.sessionOf(t.Holder); !ended && x != nil && x.bridge {
			chunk.Later = s.later(t)
		} else if chunk, err = s.ask(ctx, t, in); err != nil {
			return nil, err
		}
		chunk.Ended = ended && chunk.Offset+int64(len(chunk.Data)) >= chunk.Size
		if len(chunk.Data) > 0 || chunk.Ended || time.Now().After(deadline) {
			return answer(*chunk), nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the connection ended: %w", fairlead.ErrClosed)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// later says when there will be output of a task that a bridge has.
func (s *Server) later(t *fairlead.Task) string {
	text := "it is in another queueing system, behind " + t.Holder
	for _, b := range s.bridged.of(t.Job) {
		if b.Task == t.Index {
			text = "it " + b.Line()
		}
	}
	return text + "; the output comes when it has ended"
}

// logTask finds the task whose output is asked for.
func (s *Server) logTask(ctx context.Context, in *logInput) (*fairlead.Task, error) {
	j, err := s.options.Loop.Client().Job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := check(who(ctx), doOutput, j.User); err != nil {
		return nil, err
	}
	tasks, err := s.options.Loop.Client().Tasks(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	for i := range tasks {
		if t := &tasks[i]; in.Task < 0 || t.Index == in.Task {
			if in.Attempt > t.Attempt {
				return nil, &fairlead.Missing{Msg: fmt.Sprintf("job %d has had %d attempts", in.ID, t.Attempt)}
			}
			return t, nil
		}
	}
	return nil, fmt.Errorf("job %d is %s and has not started yet: %w", in.ID, j.State, fairlead.ErrState)
}

func (s *Server) ask(ctx context.Context, t *fairlead.Task, in *logInput) (*api.LogChunk, error) {
	x := s.sessionOf(t.Holder)
	if at, address := s.options.Loop.ServerOf(t.Holder); x == nil && at != "" {
		return nil, fmt.Errorf("the output is on node %s, at server %s; ask there, with --server %s: %w", t.Holder, at, address, fairlead.ErrState)
	}
	if x == nil {
		return nil, fmt.Errorf("the output is on node %s, whose agent is not connected: %w", t.Holder, fairlead.ErrState)
	}
	if x.handles {
		return nil, &fairlead.Missing{Msg: t.Holder + " is a worker that handles jobs of its kinds, and keeps no output"}
	}
	req := api.LogRequest{ID: rand.Text(), Ref: fairlead.Ref{JobID: t.Job, Task: t.Index, Attempt: t.Attempt}, Stderr: in.Stderr, Offset: in.Offset, Limit: in.Limit}
	if in.Attempt > 0 {
		req.Attempt = in.Attempt
	}
	reply := make(chan api.LogReply, 1)
	s.agents.mu.Lock()
	s.agents.replies[req.ID] = reply
	s.agents.mu.Unlock()
	defer func() {
		s.agents.mu.Lock()
		delete(s.agents.replies, req.ID)
		s.agents.mu.Unlock()
	}()
	x.put(func() { x.logs = append(x.logs, req) })
	select {
	case r := <-reply:
		if r.Error != "" {
			return nil, &fairlead.Missing{Msg: fmt.Sprintf("node %s: %s", t.Holder, r.Error)}
		}
		return &r.Chunk, nil
	case <-time.After(logTimeout):
		return nil, fmt.Errorf("the agent of node %s does not answer: %w", t.Holder, fairlead.ErrState)
	case <-ctx.Done():
		return nil, fmt.Errorf("the connection ended: %w", fairlead.ErrClosed)
	}
}

type logReplyInput struct {
	Name string `path:"name"`
	ID   string `path:"id"`
	Body api.LogReply
}

func (s *Server) logReply(ctx context.Context, in *logReplyInput) (*struct{}, error) {
	if err := check(who(ctx), doAgent, ""); err != nil {
		return nil, err
	}
	s.agents.mu.Lock()
	reply := s.agents.replies[in.ID]
	s.agents.mu.Unlock()
	if reply != nil {
		select {
		case reply <- in.Body:
		default:
		}
	}
	return nil, nil
}
