package server

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// agents are the sessions of those who joined.
type agents struct {
	mu       sync.Mutex
	sessions map[string]*session // by session id
	// displaced are the sessions whose name another agent has taken over and that have
	// not been told yet. Who is dead is never told, so it is emptied when it grows.
	displaced map[string]bool
}

func newAgents() *agents { return &agents{sessions: map[string]*session{}} }

// begin puts a session in the place of those of the same name, whose polls end. It reports whether
// one of them was another agent's.
func (s *agents) begin(x *session) (displaced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, old := range s.sessions {
		if old.name == x.name {
			delete(s.sessions, id)
			if old.instance != x.instance {
				displaced = true
				s.displace(id)
			}
			old.put(func() {}) // lets its poll end
		}
	}
	s.sessions[x.id] = x
	return displaced
}

// end forgets a session.
func (s *agents) end(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, x.id)
}

// find is the session with a name and an id; nil if it is over.
func (s *agents) find(name, id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessions[id]; x != nil && x.name == name {
		return x
	}
	return nil
}

// of is the session of a node; nil if there is none.
func (s *agents) of(node string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		if x.name == node {
			return x
		}
	}
	return nil
}

// byNode are the sessions by the names of their nodes.
func (s *agents) byNode() map[string]*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := make(map[string]*session, len(s.sessions))
	for _, x := range s.sessions {
		by[x.name] = x
	}
	return by
}

// displace notes that an agent has lost its name. The caller holds the lock.
func (s *agents) displace(id string) {
	const most = 1000
	if s.displaced == nil || len(s.displaced) >= most {
		s.displaced = map[string]bool{}
	}
	s.displaced[id] = true
}

// over is the answer to a poll in a session that is over.
func (s *agents) over(id string) *api.PollResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.displaced[id] {
		delete(s.displaced, id)
		return &api.PollResponse{Displaced: true}
	}
	return &api.PollResponse{Rejoin: true}
}

// session is the server's end of an agent: an engine.Worker whose leases wait in a
// mailbox until the agent polls.
type session struct {
	id       string
	name     string
	instance string // what the agent proves with that it is the one which joined before
	host     string
	ledger   string   // of a bridge, which proves with it the same
	kinds    []string // of jobs that it handles; it keeps no output then
	bridge   bool     // to another queueing system; it has the output of ended tasks
	member   *engine.Member
	unit     string // in which shares are counted

	mu    sync.Mutex
	facts facts
	start []*queue.Lease // to be sent, or sent and not yet acknowledged
	stop  []api.Stop
	logs  []api.LogRequest
	mail  chan struct{} // has an element when there is something to send
}

// Start implements engine.Worker.
func (x *session) Start(leases []*queue.Lease) {
	x.put(func() { x.start = append(x.start, leases...) })
}

// Stop implements engine.Worker. What was not sent yet is stopped as well: the agent
// reports its end like any other.
func (x *session) Stop(refs []queue.Ref, why string) {
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
	wait.Wake(x.mail)
}

// take returns the messages to send. Leases stay in the mailbox until they are
// acknowledged, so that an answer that is lost on its way is sent again.
func (x *session) take() api.PollResponse {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := api.PollResponse{Stop: x.stop, Logs: x.logs}
	for _, l := range x.start {
		start := api.FromLease(l)
		start.Job.Request = withDevice(start.Job.Request, x.unit)
		out.Start = append(out.Start, start)
	}
	x.stop, x.logs = nil, nil
	return out
}

// withDevice is what a task holds that does not say how many GPUs it takes where shares are counted in
// these: one, which its agent has to hand out.
func withDevice(request map[string]int64, unit string) map[string]int64 {
	if base, _, _ := strings.Cut(unit, ":"); base != "gpu" || cluster.WithTypes(request)[unit] > 0 {
		return request
	}
	held := maps.Clone(request)
	if held == nil {
		held = map[string]int64{}
	}
	held[unit] = 1
	return held
}

func (x *session) acknowledge(refs []queue.Ref) {
	if len(refs) == 0 {
		return
	}
	known := make(map[queue.Ref]bool, len(refs)) // of a bridge they may be thousands
	for _, r := range refs {
		known[r] = true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.start = slices.DeleteFunc(x.start, func(l *queue.Lease) bool { return known[l.Ref] })
}

// facts are what an agent said of its machine, and how far its clock was from ours then.
type facts struct {
	*api.Facts
	skew time.Duration
}
