package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/share"
)

func (s *Server) clusterRoutes(a huma.API) {
	handle(a, http.MethodGet, "/v1/shares", "shares", "The tree of pools: shares, use, demand", 0, s.shares)
	handle(a, http.MethodGet, "/v1/nodes", "nodes", "The nodes", 0, s.nodes)
	handle(a, http.MethodGet, "/v1/nodes/tasks", "nodeTasks", "What runs on nodes, and until when", 0, s.nodeTasks)
	handle(a, http.MethodGet, "/v1/limits", "limits", "The licences and rates: in use, left, waiting", 0, s.limits)
	handle(a, http.MethodGet, "/v1/limits/course", "limit-courses", "How much of licences and rates was used over time, and by when they are free again", 0, s.limitCourses)
	handle(a, http.MethodPost, "/v1/nodes/{name}/drain", "drain", "Drain a node, or let it take tasks again", 0, s.drain)
	handle(a, http.MethodGet, "/v1/status", "status", "What the server says about itself", 0, s.status)
}

type sharesInput struct {
	Pool string `query:"pool" doc:"This pool and those below it"`
}

func (s *Server) shares(ctx context.Context, in *sharesInput) (*body[api.Shares], error) {
	out := api.Shares{Version: api.Version, At: time.Now(), Summary: s.summary(), Config: s.options.Config.Status().Hash, Pools: []fairlead.PoolView{}}
	out.Unit, out.UsageUnit = out.Summary.Unit, s.options.Loop.UsageUnit()
	out.HalfLifeSeconds = s.options.Loop.HalfLife().Seconds()
	fair, pools := s.options.Loop.Fairness(ctx)
	out.Fairness = fair
	for _, p := range pools {
		if in.Pool == "" || share.Inside(p.Path, in.Pool) {
			out.Pools = append(out.Pools, p)
		}
	}
	if in.Pool != "" && len(out.Pools) == 0 {
		return nil, &fairlead.Missing{Msg: fmt.Sprintf("no pool is called %.256q; see fairlead shares", in.Pool)}
	}
	return answer(out), nil
}

func (s *Server) summary() api.Summary {
	capacity, free, unit := s.options.Loop.Capacity()
	running, waiting := s.options.Loop.Running()
	out := api.Summary{Waiting: waiting, Queued: s.options.Loop.Queued(), Running: running, Unit: unit, Capacity: capacity, Free: free}
	st := s.options.Loop.Stats()
	if out.Started = st.Started; !st.LastStep.IsZero() {
		out.LastStep = &st.LastStep
	}
	return out
}

func (s *Server) nodes(context.Context, *struct{}) (*body[api.Nodes], error) {
	_, _, unit := s.options.Loop.Capacity()
	nodes := s.options.Loop.Nodes()
	if nodes == nil {
		nodes = []fairlead.NodeView{}
	}
	return answer(api.Nodes{Version: api.Version, At: time.Now(), Unit: unit, Nodes: nodes}), nil
}

type nodeTasksInput struct {
	Nodes []string `query:"node,explode" maxItems:"1000" doc:"Of these; default: of all"`
	Past  float64  `query:"past_seconds" minimum:"0" maximum:"604800" doc:"Those that ended in so many seconds before now are listed, too: of each node the last 64 since the server was started"`
}

func (s *Server) nodeTasks(_ context.Context, in *nodeTasksInput) (*body[api.NodeTasks], error) {
	_, _, unit := s.options.Loop.Capacity()
	nodes := in.Nodes
	if len(nodes) == 0 {
		for _, n := range s.options.Loop.Nodes() {
			nodes = append(nodes, n.Name)
		}
	}
	now, tasks := time.Now(), []fairlead.NodeTask{}
	if in.Past > 0 {
		tasks = append(tasks, s.options.Loop.EndedTasks(nodes, now.Add(-time.Duration(in.Past*float64(time.Second))))...)
	}
	return answer(api.NodeTasks{Version: api.Version, At: now, Unit: unit, Tasks: append(tasks, s.options.Loop.NodeTasks(nodes)...)}), nil
}

func (s *Server) limits(ctx context.Context, _ *struct{}) (*body[api.Limits], error) {
	licenses, rates := s.options.Loop.Limits(ctx)
	return answer(api.Limits{Version: api.Version, At: time.Now(), Licenses: licenses, Rates: rates}), nil
}

type limitCoursesInput struct {
	Past float64 `query:"past_seconds" minimum:"0" maximum:"604800" default:"21600" doc:"How far back; a day is kept, since the server was started"`
}

func (s *Server) limitCourses(_ context.Context, in *limitCoursesInput) (*body[api.LimitCourses], error) {
	courses := s.options.Loop.LimitCourses(time.Duration(in.Past * float64(time.Second)))
	return answer(api.LimitCourses{Version: api.Version, At: time.Now(), Limits: courses}), nil
}

type drainInput struct {
	Name string `path:"name"`
	Body api.DrainRequest
}

func (s *Server) drain(ctx context.Context, in *drainInput) (*body[api.NodeState], error) {
	me := who(ctx)
	if err := check(me, doNodes, ""); err != nil {
		return nil, err
	}
	why := in.Body.Reason
	if err := checkWords("reason", why); err != nil {
		return nil, err
	}
	if in.Body.Drain {
		why = strings.TrimSpace(why + " (by " + me.User + ")")
	}
	l := s.options.Loop
	var err error
	if in.Body.Forget {
		err = s.forgetNode(ctx, in.Name)
	} else if in.Body.Drain && in.Body.Maintenance {
		err = l.SetMaintenance(ctx, in.Name, why)
	} else {
		err = l.SetDrained(ctx, in.Name, in.Body.Drain, why)
	}
	if err != nil {
		return nil, err
	}
	out := api.NodeState{Version: api.Version, Name: in.Name}
	for _, n := range l.Nodes() {
		if n.Name == in.Name {
			out.State = n.State
		}
	}
	return answer(out), nil
}

func (s *Server) status(ctx context.Context, _ *struct{}) (*body[api.ServerStatus], error) {
	st := s.options.Loop.Stats()
	c := s.options.Config.Status()
	c.Text = ""
	s.mu.Lock()
	listen := append([]string(nil), s.listen...)
	s.mu.Unlock()
	out := api.ServerStatus{
		Version: api.Version, Program: s.options.Program, At: time.Now(), Started: s.started, Store: s.options.StoreName,
		Config: c, Summary: s.summary(), Steps: st.Steps, TasksStarted: st.Started, TasksFinished: st.Finished,
		TasksLost: st.Lost, StepSeconds: st.StepTime.Seconds(), LastError: st.LastError, You: who(ctx).Actor,
		Listen: listen, LeaseSeconds: s.options.Loop.LeaseTTL().Seconds(),
	}
	if !st.ErrorAt.IsZero() {
		out.LastErrorAt = &st.ErrorAt
	}
	if p, err := s.options.Loop.Pulse(ctx); err == nil {
		out.StoreSeconds, out.CaughtUpSeconds, out.StepsPerSecond, out.StartsPerSecond = p.Store.Seconds(), p.CaughtUp.Seconds(), p.Steps, p.Starts
	}
	return answer(out), nil
}
