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

// agents holds the sessions of agents, workers and bridges that joined.
type agents struct {
	mu       sync.Mutex
	sessions map[string]*session // by session id
	// displaced holds the sessions that lost their name to another agent and do not know it yet. A dead agent never
	// asks, so the map is emptied when it becomes large.
	displaced map[string]bool
}

func newAgents() *agents { return &agents{sessions: map[string]*session{}} }

// begin replaces the sessions of the same name by x, and ends their polls. It reports whether one of them was another
// agent's.
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
	x.polls.heard() // it may die before its first poll
	s.sessions[x.id] = x
	return displaced
}

// end forgets a session.
func (s *agents) end(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, x.id)
}

// endOf forgets the session of a node: its agent joins again if it comes back.
func (s *agents) endOf(node string) {
	if x := s.of(node); x != nil {
		s.end(x)
	}
}

// find returns the session with a name and an id, or nil if it is over.
func (s *agents) find(name, id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessions[id]; x != nil && x.name == name {
		return x
	}
	return nil
}

// of returns the session of a node, or nil if there is none.
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

// byNode maps the names of nodes to their sessions.
func (s *agents) byNode() map[string]*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := make(map[string]*session, len(s.sessions))
	for _, x := range s.sessions {
		by[x.name] = x
	}
	return by
}

// displace records that an agent has lost its name. The caller holds the lock.
func (s *agents) displace(id string) {
	const most = 1000
	if s.displaced == nil || len(s.displaced) >= most {
		s.displaced = map[string]bool{}
	}
	s.displaced[id] = true
}

// over returns the answer to a poll in a session that is over.
func (s *agents) over(id string) *api.PollResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.displaced[id] {
		delete(s.displaced, id)
		return &api.PollResponse{Displaced: true}
	}
	return &api.PollResponse{Rejoin: true}
}

// session is the server's end of an agent: an engine.Worker that keeps leases in a mailbox until the agent polls.
type session struct {
	id       string
	name     string
	instance string // proves that the agent joined before
	host     string
	ledger   string   // of a bridge: proves the same
	kinds    []string // of jobs that it handles; if there are some, it keeps no output
	bridge   bool     // a bridge to another queueing system; it has the output of ended tasks
	member   *engine.Member
	unit     string // in which fairlead counts shares
	polls    polls

	mu    sync.Mutex
	facts facts
	start []*queue.Lease // to be sent, or sent and not yet acknowledged
	stop  []api.Stop
	logs  []api.LogRequest
	mail  chan struct{} // holds an element if there is something to send
}

// Start implements engine.Worker.
func (x *session) Start(leases []*queue.Lease) {
	x.put(func() { x.start = append(x.start, leases...) })
}

// Stop implements engine.Worker. It also stops tasks that were not sent yet: the agent reports their end like any
// other.
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

// take returns the messages to send. Leases stay in the mailbox until they are acknowledged, so that the server repeats
// them if an answer is lost.
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

// withDevice returns what a task holds. If shares are counted in GPUs, a task that names no number of GPUs gets one
// GPU, which its agent must assign.
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
	known := make(map[queue.Ref]bool, len(refs)) // a bridge may have thousands
	for _, r := range refs {
		known[r] = true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.start = slices.DeleteFunc(x.start, func(l *queue.Lease) bool { return known[l.Ref] })
}

// facts holds what an agent said about its machine, and the difference between its clock and the server's then.
type facts struct {
	*api.Facts
	skew time.Duration
}
