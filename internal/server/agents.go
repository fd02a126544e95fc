package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/queue"
)

func (s *agentService) routes(a huma.API) {
	handle(a, http.MethodPost, "/v1/agents/{name}/join", "agent-join", "Offer a machine", maxSubmit, s.join)
	handle(a, http.MethodPost, "/v1/agents/{name}/poll", "agent-poll", "Wait for work", maxSubmit, s.poll)
	handle(a, http.MethodPost, "/v1/agents/{name}/report", "agent-report", "Report ends, renew leases, drain, leave", maxSubmit, s.report)
}

type joinInput struct {
	Name string `path:"name" maxLength:"256"`
	Body api.JoinRequest
}

func (s *agentService) join(ctx context.Context, in *joinInput) (*api.JoinResponse, error) {
	if err := check(ctx, s.loop, access.Run, access.Object{Node: in.Name, Kinds: in.Body.Kinds}); err != nil {
		return nil, err
	}
	if err := s.joins.bounds(ctx, in.Body.Capacity, in.Body.Labels); err != nil {
		return nil, err
	}
	if err := engine.CheckNode(in.Name); err != nil { // before the server keeps anything of it
		return nil, err
	}
	if err := s.mayRun(in.Body.Facts); err != nil {
		return nil, err
	}
	s.joining.Lock()
	defer s.joining.Unlock()
	if err := s.free(in.Name, &in.Body); err != nil {
		return nil, err
	}
	if err := s.ledgers.admit(ctx, in.Name, in.Body.Ledger, in.Body.TakeOver); err != nil {
		return nil, err
	}
	_, _, unit := s.loop.Capacity()
	x := &session{
		unit: unit,
		id:   rand.Text(), name: in.Name, instance: in.Body.Instance, host: in.Body.Host, ledger: in.Body.Ledger,
		kinds: in.Body.Kinds, bridge: in.Body.Ledger != "", mail: make(chan struct{}, 1),
	}
	capacity, err := engine.AgentCapacity(in.Body.Capacity, in.Body.Kinds...)
	if err != nil {
		return nil, err
	}
	info := engine.NodeInfo{Version: in.Body.Version, Host: in.Body.Host, Labels: in.Body.Labels, Queue: in.Body.Ledger != ""}
	if info.Queue {
		info.Lease = time.Duration(in.Body.LeaseSeconds * float64(time.Second))
	}
	running, foreign, err := s.own(ctx, &in.Body, in.Name)
	if err != nil {
		return nil, err
	}
	m, err := s.loop.Join(ctx, in.Name, capacity, info, x, running)
	if err != nil {
		return nil, err
	}
	x.member = m
	x.learn(in.Body.Facts)
	s.bridged.leave(in.Name)
	if s.agents.begin(x) {
		s.log.Warn("another agent has taken over a node", "node", in.Name, "host", in.Body.Host)
	}
	return &api.JoinResponse{Session: x.id, TTLSeconds: m.TTL().Seconds(), Sole: s.loop.Sole(), Foreign: foreign}, nil
}

// own separates the attempts that an agent runs for this database from attempts that began before the database was
// restored.
func (s *agentService) own(
	ctx context.Context, r *api.JoinRequest, name string,
) (running, foreign []queue.Ref, err error) {
	says := make([]queue.Run, len(r.Running))
	for i, ref := range r.Running {
		if says[i].Ref = ref; i < len(r.Since) {
			says[i].Started, says[i].Queued = r.Since[i], r.Ledger != ""
		}
	}
	if foreign, err = s.loop.Foreign(ctx, name, says); err != nil {
		return nil, nil, err
	}
	isForeign := func(ref queue.Ref) bool { return slices.Contains(foreign, ref) }
	running = slices.DeleteFunc(slices.Clone(r.Running), isForeign)
	if r.Again && running == nil {
		running = []queue.Ref{}
	}
	return running, foreign, nil
}

// mayRun refuses an agent that would run the jobs of all users as its own user. That user is root or the server's user,
// so the tasks could do everything: read the jobs of others, and change and submit jobs as anybody over the socket. If
// nobody else can connect to the socket, the agent may run them.
func (s *agentService) mayRun(f *api.Facts) error {
	if f == nil || f.Runs != "any" {
		return nil
	}
	for _, path := range s.addresses.sockets() {
		if !socket.Closed(path) {
			return fmt.Errorf("with --any-user the jobs of all users would run as %s, so every job could do everything at this server: start the agent as root without --any-user, so that each job runs as its user; or, if nobody else is to submit jobs, close the socket %s to others with server.socket_mode: \"0600\": %w",
				cmp.Or(f.User, "the agent's user"), path, queue.ErrForbidden)
		}
	}
	return nil
}

// free returns nil if an agent may have a name: because nobody has it, the same agent has it, or its holder counts as
// lost after a long silence.
func (s *agentService) free(name string, by *api.JoinRequest) error {
	heard, there := s.loop.Present(name)
	if !there {
		return nil
	}
	old, host := s.agents.of(name), "of this server"
	if old != nil {
		if by.Instance != "" && by.Instance == old.instance || by.Ledger != "" && old.ledger != "" {
			return nil // between two bridges the ledger decides
		}
		host = "on " + cmp.Or(old.host, "a machine that it does not name")
	}
	return fmt.Errorf(
		"the name %s belongs to another agent %s, last heard from %s ago: end that agent, or give this one another name "+
			"with --name; the name becomes free when that agent has been silent for %s: %w",
		name, host, time.Since(heard).Round(time.Second), s.loop.LeaseTTL(), queue.ErrState)
}

// session returns the session of a request, or nil if it is over.
func (s *agentService) session(ctx context.Context, name, id string) (*session, error) {
	x := s.agents.find(name, id)
	me := who(ctx)
	kinds := me.RunKinds() // enough for an ended session: its worker joins again, with its kinds
	if x != nil {
		kinds = x.kinds
	}
	if err := check(ctx, s.loop, access.Run, access.Object{Node: name, Kinds: kinds}); err != nil {
		return nil, err
	}
	return x, nil
}

func (s *agentService) poll(ctx context.Context, in *namedPost[api.PollRequest]) (*api.PollResponse, error) {
	x, err := s.session(ctx, in.Name, in.Body.Session)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return s.agents.over(in.Body.Session), nil
	}
	x.polls.begin()
	defer x.polls.end()
	x.acknowledge(in.Body.Ack)
	x.learn(in.Body.Facts)
	if _, err := x.member.Renew(ctx, nil); err != nil {
		return nil, err
	}
	// A hung agent keeps its connection. Only a new poll shows that it lives, so no poll waits long compared with a
	// lease.
	wait := time.NewTimer(min(time.Duration(in.Body.WaitSeconds*float64(time.Second)), x.member.TTL()/3))
	defer wait.Stop()
	for {
		if again, _ := s.session(ctx, in.Name, in.Body.Session); again == nil {
			return s.agents.over(in.Body.Session), nil
		}
		out := x.take()
		if out.Sole = s.loop.Sole(); len(out.Start)+len(out.Stop)+len(out.Logs) > 0 {
			return &out, nil
		}
		select {
		case <-x.mail:
		case <-wait.C:
			return &out, nil
		case <-ctx.Done(): // the client is gone, or the server ends
			return &out, nil
		}
	}
}

func (s *agentService) report(ctx context.Context, in *namedPost[api.ReportRequest]) (*api.ReportResponse, error) {
	x, err := s.session(ctx, in.Name, in.Body.Session)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return &api.ReportResponse{Rejoin: true}, nil
	}
	if in.Body.LeaseSeconds > 0 && !x.bridge {
		return nil, &queue.Invalid{Field: "lease_seconds",
			Msg: "only a bridge may send this; this agent is not a bridge, because it named no ledger when it joined"}
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
		if err := s.dropOwn(ctx, x, in.Body.Release); err != nil {
			return nil, err
		}
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
	s.bridged.used.report(x.name, in.Body.Renew, in.Body.Used, out.Renew, time.Now())
	if in.Body.Drain {
		if err := x.member.Drain(ctx); err != nil {
			return nil, err
		}
	}
	if in.Body.Leave {
		return &out, s.leave(ctx, x)
	}
	return &out, nil
}

func (s *agentService) finished(ctx context.Context, x *session, reports []api.Finished) ([]*api.Error, error) {
	results := make([]queue.Result, len(reports))
	refs := make([]queue.Ref, len(reports))
	now := time.Now()
	for i := range reports {
		results[i], refs[i] = reports[i].ToResult(now), reports[i].Ref
	}
	x.acknowledge(refs)
	if err := s.dropOwn(ctx, x, refs); err != nil {
		return nil, err
	}
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

// leave ends a session. Tasks still in the mailbox have not begun: before an agent leaves, it reports the tasks that
// have.
func (s *agentService) leave(ctx context.Context, x *session) error {
	s.agents.end(x)
	s.bridged.leave(x.name)
	if err := x.member.Drain(ctx); err != nil {
		return err
	}
	var refs []queue.Ref
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
