package server

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) agentRoutes(a huma.API) {
	handle(a, http.MethodPost, "/v1/agents/{name}/join", "agent-join", "Offer a machine", maxSubmit, s.join)
	handle(a, http.MethodPost, "/v1/agents/{name}/poll", "agent-poll", "Wait for work", maxSubmit, s.poll)
	handle(a, http.MethodPost, "/v1/agents/{name}/report", "agent-report", "Report ends, renew leases, drain, leave", maxSubmit, s.report)
	handle(a, http.MethodPost, "/v1/agents/{name}/log/{id}", "agent-log", "Answer a request for output", 4*maxBody, s.logReply)
}

// agents are the sessions of those who joined.
type agents struct {
	mu       sync.Mutex
	sessions map[string]*session // by session id
	// displaced are the sessions whose name another agent has taken over and that have
	// not been told yet. Who is dead is never told, so it is emptied when it grows.
	displaced map[string]bool
	replies   map[string]chan api.LogReply
}

// session is the server's end of an agent: a fairlead.Worker whose leases wait in a
// mailbox until the agent polls.
type session struct {
	id       string
	name     string
	instance string
	handles  bool // jobs of its kinds; it keeps no output
	bridge   bool // to another queueing system; it has the output of what has ended
	member   *fairlead.Member

	mu    sync.Mutex
	facts facts
	start []*fairlead.Lease // to be sent, or sent and not yet acknowledged
	stop  []api.Stop
	logs  []api.LogRequest
	mail  chan struct{} // has an element when there is something to send
}

// Start implements fairlead.Worker.
func (x *session) Start(leases []*fairlead.Lease) {
	x.put(func() { x.start = append(x.start, leases...) })
}

// Stop implements fairlead.Worker. What was not sent yet is stopped as well: the agent
// reports its end like any other.
func (x *session) Stop(refs []fairlead.Ref, why string) {
	x.put(func() {
		for _, r := range refs {
			x.stop = append(x.stop, api.Stop{Ref: r, Cause: why})
		}
	})
}

func (x *session) put(f func()) {
	x.mu.Lock()
	f()
	x.mu.Unlock()
	select {
	case x.mail <- struct{}{}:
	default:
	}
}

// take returns what is to be sent. Leases stay in the mailbox until they are
// acknowledged, so that an answer that is lost on its way is sent again.
func (x *session) take() api.PollResponse {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := api.PollResponse{Stop: x.stop, Logs: x.logs}
	for _, l := range x.start {
		out.Start = append(out.Start, api.FromLease(l))
	}
	x.stop, x.logs = nil, nil
	return out
}

func (x *session) acknowledge(refs []fairlead.Ref) {
	if len(refs) == 0 {
		return
	}
	known := make(map[fairlead.Ref]bool, len(refs)) // of a bridge they may be thousands
	for _, r := range refs {
		known[r] = true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.start = slices.DeleteFunc(x.start, func(l *fairlead.Lease) bool { return known[l.Ref] })
}

type joinInput struct {
	Name string `path:"name" maxLength:"256"`
	Body api.JoinRequest
}

func (s *Server) join(ctx context.Context, in *joinInput) (*body[api.JoinResponse], error) {
	if err := check(who(ctx), doAgent, ""); err != nil {
		return nil, err
	}
	if err := s.admit(ctx, in.Name, in.Body.Ledger, in.Body.TakeOver); err != nil {
		return nil, err
	}
	x := &session{id: rand.Text(), name: in.Name, instance: in.Body.Instance, handles: len(in.Body.Kinds) > 0, bridge: in.Body.Ledger != "", mail: make(chan struct{}, 1)}
	capacity, err := fairlead.AgentCapacity(in.Body.Capacity, in.Body.Kinds...)
	if err != nil {
		return nil, err
	}
	info := fairlead.NodeInfo{Version: in.Body.Version, Host: in.Body.Host, Labels: in.Body.Labels, Queue: in.Body.Ledger != ""}
	if info.Queue {
		info.Lease = time.Duration(in.Body.LeaseSeconds * float64(time.Second))
	}
	running := in.Body.Running
	if in.Body.Again && running == nil {
		running = []fairlead.Ref{}
	}
	m, err := s.options.Loop.Join(ctx, in.Name, capacity, info, x, running)
	if err != nil {
		return nil, err
	}
	x.member = m
	x.learn(in.Body.Facts)
	s.bridged.leave(in.Name)
	s.agents.mu.Lock()
	for id, old := range s.agents.sessions {
		if old.name == in.Name {
			delete(s.agents.sessions, id)
			if old.instance != x.instance {
				s.log.Warn("another agent has taken over a node", "node", in.Name, "host", in.Body.Host)
				s.displace(id)
			}
			old.put(func() {}) // lets its poll end
		}
	}
	s.agents.sessions[x.id] = x
	s.agents.mu.Unlock()
	return answer(api.JoinResponse{Session: x.id, TTLSeconds: m.TTL().Seconds()}), nil
}

// displace notes that an agent has lost its name. The caller holds the lock.
func (s *Server) displace(id string) {
	const most = 1000
	if s.agents.displaced == nil || len(s.agents.displaced) >= most {
		s.agents.displaced = map[string]bool{}
	}
	s.agents.displaced[id] = true
}

// over is the answer to a poll in a session that is over.
func (s *Server) over(id string) api.PollResponse {
	s.agents.mu.Lock()
	defer s.agents.mu.Unlock()
	if s.agents.displaced[id] {
		delete(s.agents.displaced, id)
		return api.PollResponse{Displaced: true}
	}
	return api.PollResponse{Rejoin: true}
}

// session finds the session of a request; nil if it is over.
func (s *Server) session(ctx context.Context, name, id string) (*session, error) {
	if err := check(who(ctx), doAgent, ""); err != nil {
		return nil, err
	}
	s.agents.mu.Lock()
	defer s.agents.mu.Unlock()
	if x := s.agents.sessions[id]; x != nil && x.name == name {
		return x, nil
	}
	return nil, nil
}

type pollInput struct {
	Name string `path:"name"`
	Body api.PollRequest
}

func (s *Server) poll(ctx context.Context, in *pollInput) (*body[api.PollResponse], error) {
	x, err := s.session(ctx, in.Name, in.Body.Session)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return answer(s.over(in.Body.Session)), nil
	}
	x.acknowledge(in.Body.Ack)
	x.learn(in.Body.Facts)
	if _, err := x.member.Renew(ctx, nil); err != nil {
		return nil, err
	}
	// An agent that stands still keeps its connection: only a new poll shows that it
	// lives, so none lasts long compared with a lease.
	wait := time.NewTimer(min(time.Duration(in.Body.WaitSeconds*float64(time.Second)), x.member.TTL()/3))
	defer wait.Stop()
	for {
		if again, _ := s.session(ctx, in.Name, in.Body.Session); again == nil {
			return answer(s.over(in.Body.Session)), nil
		}
		if out := x.take(); len(out.Start)+len(out.Stop)+len(out.Logs) > 0 {
			return answer(out), nil
		}
		select {
		case <-x.mail:
		case <-wait.C:
			return answer(api.PollResponse{}), nil
		case <-ctx.Done(): // nobody listens any more, or the server ends
			return answer(api.PollResponse{}), nil
		}
	}
}

type reportInput struct {
	Name string `path:"name"`
	Body api.ReportRequest
}

func (s *Server) report(ctx context.Context, in *reportInput) (*body[api.ReportResponse], error) {
	x, err := s.session(ctx, in.Name, in.Body.Session)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return answer(api.ReportResponse{Rejoin: true}), nil
	}
	var out api.ReportResponse
	if n := len(in.Body.Finished); n > 0 {
		if out.Finished, err = s.finished(ctx, x, in.Body.Finished); err != nil {
			return nil, err
		}
	}
	if err := s.note(ctx, x, in.Body.Notes); err != nil {
		return nil, err
	}
	if len(in.Body.Release) > 0 {
		x.acknowledge(in.Body.Release)
		s.bridged.drop(in.Body.Release)
		if err := x.member.Release(ctx, in.Body.Release); err != nil {
			return nil, err
		}
	}
	errs, err := x.member.RenewFor(ctx, in.Body.Renew, time.Duration(in.Body.LeaseSeconds*float64(time.Second)))
	if err != nil {
		return nil, err
	}
	for _, err := range errs {
		out.Renew = append(out.Renew, api.FromError(err))
	}
	if in.Body.Drain {
		x.member.Drain()
	}
	if in.Body.Leave {
		return answer(out), s.leave(ctx, x)
	}
	return answer(out), nil
}

func (s *Server) finished(ctx context.Context, x *session, reports []api.Finished) ([]*api.Error, error) {
	results := make([]fairlead.Result, len(reports))
	refs := make([]fairlead.Ref, len(reports))
	for i := range reports {
		results[i], refs[i] = reports[i].ToResult(), reports[i].Ref
	}
	x.acknowledge(refs)
	s.bridged.drop(refs)
	verdicts, err := x.member.Finish(ctx, results)
	if err != nil {
		return nil, err
	}
	out := make([]*api.Error, len(verdicts))
	for i, v := range verdicts {
		out[i] = api.FromError(v.Err)
	}
	return out, nil
}

// leave ends a session. What is still in the mailbox has not begun: whoever goes away says so
// before of what has.
func (s *Server) leave(ctx context.Context, x *session) error {
	s.agents.mu.Lock()
	delete(s.agents.sessions, x.id)
	s.agents.mu.Unlock()
	s.bridged.leave(x.name)
	x.member.Drain()
	var refs []fairlead.Ref
	for _, l := range x.take().Start {
		refs = append(refs, l.Ref)
	}
	if len(refs) > 0 {
		if err := x.member.Release(ctx, refs); err != nil {
			return err
		}
	}
	err := x.member.Leave(ctx)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// sessionOf finds the session of a node.
func (s *Server) sessionOf(node string) *session {
	s.agents.mu.Lock()
	defer s.agents.mu.Unlock()
	for _, x := range s.agents.sessions {
		if x.name == node {
			return x
		}
	}
	return nil
}
