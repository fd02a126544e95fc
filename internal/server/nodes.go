package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// nodeService lists, drains and forgets nodes.
type nodeService struct {
	loop     *engine.Loop
	recorder *history.Recorder
	ledgers  *ledgers
	examiner *examiner // knows which agents have no connection
}

func (s *nodeService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/nodes", "nodes", "The nodes", 0, alone(s.List))
	handle(a, http.MethodGet, "/v1/nodes/tasks", "nodeTasks", "Tasks that run on nodes, with their latest ends", 0,
		func(ctx context.Context, in *nodeTasksInput) (*api.NodeTasks, error) {
			return s.NumberedTasks(ctx, in.Nodes, words.Seconds(in.Past))
		})
	handle(a, http.MethodPost, "/v1/nodes/{name}/drain", "drain", "Drain or resume a node", 0,
		func(ctx context.Context, in *namedPost[api.DrainRequest]) (*api.NodeState, error) {
			return s.Drain(ctx, in.Name, in.Body)
		})
}

func (s *nodeService) List(context.Context) (*api.Nodes, error) {
	_, _, unit := s.loop.Capacity()
	nodes, now := []views.NodeView{}, time.Now()
	for _, p := range s.examiner.patients() {
		if p.lostConnection(now) {
			p.Silent = &p.silent
		}
		nodes = append(nodes, p.NodeView)
	}
	return &api.Nodes{Version: api.Version, At: now, Unit: unit, Nodes: nodes}, nil
}

type nodeTasksInput struct {
	Nodes []string `query:"node,explode" maxItems:"1000" doc:"Only tasks on these nodes; default: all"`
	Past  float64  `query:"past_seconds" minimum:"0" maximum:"604800" doc:"Also list tasks that ended within this number of seconds: the last 64 of each node since the server started"`
}

// NumberedTasks returns the tasks of some nodes with the numbers of the tasks in their jobs.
func (s *nodeService) NumberedTasks(ctx context.Context, nodes []string, past time.Duration) (*api.NodeTasks, error) {
	out, err := s.Tasks(ctx, nodes, past)
	if err != nil {
		return nil, err
	}
	return out, s.number(ctx, out.Tasks)
}

// Tasks returns the running tasks of some nodes, and the tasks that ended there within the past.
func (s *nodeService) Tasks(_ context.Context, nodes []string, past time.Duration) (*api.NodeTasks, error) {
	_, _, unit := s.loop.Capacity()
	if len(nodes) == 0 {
		for _, n := range views.Nodes(s.loop) {
			nodes = append(nodes, n.Name)
		}
	}
	now, tasks := time.Now(), []history.NodeTask{}
	if past > 0 {
		tasks = append(tasks, s.recorder.EndedTasks(nodes, now.Add(-past))...)
	}
	tasks = append(tasks, s.recorder.NodeTasks(nodes)...)
	return &api.NodeTasks{Version: api.Version, At: now, Unit: unit, Tasks: tasks}, nil
}

// number sets the numbers of tasks, as their jobs count them. It reads only jobs that may have several tasks.
func (s *nodeService) number(ctx context.Context, tasks []history.NodeTask) error {
	of := map[int64][]*history.NodeTask{}
	for i := range tasks {
		if t := &tasks[i]; !t.Only {
			of[t.Job] = append(of[t.Job], t)
		}
	}
	const atOnce = 1000
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(of)), atOnce) {
		jobs, err := s.loop.Client().Jobs(ctx, queue.Query{IDs: ids})
		if err != nil {
			return err
		}
		for _, j := range jobs {
			numbers := j.Numbers()
			for _, t := range of[j.ID] {
				if numbers.Len() > 1 && t.Task < numbers.Len() {
					t.Number = new(numbers.At(t.Task))
				}
			}
		}
	}
	return nil
}

// Stranded counts the waiting jobs that would have no node any more if a node took no tasks.
func (s *nodeService) Stranded(ctx context.Context, node string) (int, error) {
	if err := s.loop.Sync(ctx); err != nil {
		return 0, err
	}
	return engine.Read(s.loop, func(state *engine.State) int { return explain.Stranded(state, node) }), nil
}

func (s *nodeService) Drain(ctx context.Context, node string, r api.DrainRequest) (*api.NodeState, error) {
	me := who(ctx)
	if err := check(ctx, s.loop, access.Nodes, access.Object{}); err != nil {
		return nil, err
	}
	r.Reason = strings.TrimSpace(r.Reason)
	if err := checkWords("reason", r.Reason); err != nil {
		return nil, err
	}
	l := s.loop
	var err error
	if err := l.Sync(ctx); err != nil {
		return nil, err
	}
	out := api.NodeState{Version: api.Version, Name: node,
		Before: engine.Read(l, func(s *engine.State) *engine.Drain { return s.InForce.Drain(node) })}
	if r.Drain {
		out.Stranded = engine.Read(l, func(s *engine.State) int { return explain.Stranded(s, node) })
	}
	var drain *engine.Drain
	if r.Drain {
		drain = &engine.Drain{Maintenance: r.Maintenance, Reason: r.Reason, By: me.Name}
	}
	if r.Forget {
		if err = s.ledgers.forget(ctx, node); err == nil {
			s.examiner.agents.endOf(node)
		}
	} else {
		err = l.Overrides.SetDrained(ctx, node, drain, me.Name, me.Via)
	}
	if err != nil {
		return nil, err
	}
	for _, n := range views.Nodes(l) {
		if n.Name == node {
			out.State = n.State
		}
	}
	return &out, nil
}
