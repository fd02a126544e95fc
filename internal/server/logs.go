package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// logService requests parts of the output of tasks from agents.
type logService struct {
	loop    *engine.Loop
	agents  *agents
	bridged *bridged

	mu      sync.Mutex
	replies map[string]chan api.LogReply // by the ids of the waiting requests
}

func newLogService(loop *engine.Loop, a *agents, b *bridged) *logService {
	return &logService{loop: loop, agents: a, bridged: b, replies: map[string]chan api.LogReply{}}
}

func (s *logService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/jobs/{id}/log", "job-log", "A part of a task's output", 0, s.logs)
	reply := operation(http.MethodPost, "/v1/agents/{name}/log/{id}", "agent-log", "Answer a request for output", 4*maxBody)
	huma.Register(a, reply, s.logReply)
}

type logInput struct {
	ID      int64   `path:"id"`
	Task    int     `query:"task" default:"-1" doc:"Index of the task; default: the only one, or the first that started"`
	Attempt int     `query:"attempt" doc:"Default: the last one"`
	Stderr  bool    `query:"stderr" doc:"The error output, if it is stored separately"`
	Offset  int64   `query:"offset" doc:"Where to begin; below 0: counted from the end"`
	Limit   int     `query:"limit" minimum:"1" maximum:"1048576" default:"65536"`
	Wait    float64 `query:"wait_seconds" maximum:"60" doc:"How long to wait for more output if there is none yet"`
}

// logTimeout is how long an agent may take to answer.
const logTimeout = 10 * time.Second

// logs asks the agent that runs or ran the task for a part of its output.
func (s *logService) logs(ctx context.Context, in *logInput) (*api.LogChunk, error) {
	deadline := time.Now().Add(time.Duration(in.Wait * float64(time.Second)))
	for {
		t, err := s.logTask(ctx, in)
		if err != nil {
			return nil, err
		}
		ended := t.State != queue.Running || in.Attempt > 0 && in.Attempt < t.Attempt
		chunk := &api.LogChunk{}
		if x := s.agents.of(t.Holder); !ended && x != nil && x.bridge {
			chunk.Later = s.later(t)
		} else if chunk, err = s.ask(ctx, t, in); err != nil {
			return nil, err
		}
		chunk.Ended = ended && chunk.Offset+int64(len(chunk.Data)) >= chunk.Size
		if len(chunk.Data) > 0 || chunk.Ended || time.Now().After(deadline) {
			return chunk, nil
		}
		if !wait.For(ctx, 200*time.Millisecond) {
			return nil, fmt.Errorf("the connection ended: %w", queue.ErrClosed)
		}
	}
}

// later says when the output of a task with a bridge will come.
func (s *logService) later(t *queue.Task) string {
	text := "it is in another queueing system, behind " + t.Holder
	for _, b := range s.bridged.of(t.Job) {
		if b.Task == t.Index {
			text = "it " + b.Line()
		}
	}
	return text + "; the output comes when it has ended"
}

// logTask returns the task whose output a request wants.
func (s *logService) logTask(ctx context.Context, in *logInput) (*queue.Task, error) {
	j, err := s.loop.Client().Job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := check(ctx, s.loop, access.Output, access.Object{Owner: j.User, Pool: j.Pool}); err != nil {
		return nil, err
	}
	tasks, err := s.loop.Client().Tasks(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	for i := range tasks {
		if t := &tasks[i]; in.Task < 0 || t.Index == in.Task {
			if in.Attempt > t.Attempt {
				return nil, queue.Missingf("job %d has had %d attempts", in.ID, t.Attempt)
			}
			return t, nil
		}
	}
	return nil, fmt.Errorf("job %d is %s and has not started yet: %w", in.ID, j.State, queue.ErrState)
}

func (s *logService) ask(ctx context.Context, t *queue.Task, in *logInput) (*api.LogChunk, error) {
	x := s.agents.of(t.Holder)
	if at, address := s.loop.ServerOf(t.Holder); x == nil && at != "" {
		return nil, fmt.Errorf("the output is on node %s, at server %s; ask there, with --server %s: %w", t.Holder, at, address, queue.ErrState)
	}
	if x == nil {
		return nil, fmt.Errorf("the output is on node %s, whose agent is not connected: %w", t.Holder, queue.ErrState)
	}
	if len(x.kinds) > 0 {
		return nil, queue.Missingf("%s", t.Holder+" is a worker that handles jobs of its kinds, and keeps no output")
	}
	req := api.LogRequest{ID: rand.Text(), Ref: queue.Ref{JobID: t.Job, Task: t.Index, Attempt: t.Attempt}, Stderr: in.Stderr, Offset: in.Offset, Limit: in.Limit}
	if in.Attempt > 0 {
		req.Attempt = in.Attempt
	}
	reply := make(chan api.LogReply, 1)
	s.mu.Lock()
	s.replies[req.ID] = reply
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.replies, req.ID)
		s.mu.Unlock()
	}()
	x.put(func() { x.logs = append(x.logs, req) })
	select {
	case r := <-reply:
		if r.Error != "" {
			return nil, queue.Missingf("node %s: %s", t.Holder, r.Error)
		}
		return &r.Chunk, nil
	case <-time.After(logTimeout):
		return nil, fmt.Errorf("the agent of node %s does not answer: %w", t.Holder, queue.ErrState)
	case <-ctx.Done():
		return nil, fmt.Errorf("the connection ended: %w", queue.ErrClosed)
	}
}

type logReplyInput struct {
	Name string `path:"name"`
	ID   string `path:"id"`
	Body api.LogReply
}

func (s *logService) logReply(ctx context.Context, in *logReplyInput) (*struct{}, error) {
	me := who(ctx)
	if err := check(ctx, s.loop, access.Run, access.Object{Node: in.Name, Kinds: me.RunKinds()}); err != nil {
		return nil, problem(err)
	}
	s.mu.Lock()
	reply := s.replies[in.ID]
	s.mu.Unlock()
	if reply != nil {
		select {
		case reply <- in.Body:
		default:
		}
	}
	return nil, nil
}
