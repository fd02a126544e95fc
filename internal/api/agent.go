package api

import (
	"time"

	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// JoinRequest is sent by an agent that offers its machine, or by a worker that handles jobs of its kinds.
type JoinRequest struct {
	Capacity map[string]int64  `json:"capacity" doc:"Its resources, e.g. cpu: 4; a task takes one cpu unless its job asks for more"`
	Kinds    []string          `json:"kinds,omitempty" doc:"For a worker: the kinds of jobs without a command that it handles. Without kinds, the node is an agent, which runs commands"`
	Labels   map[string]string `json:"labels,omitempty" doc:"For constraints of jobs, e.g. arch=amd64"`
	Version  string            `json:"version,omitempty"`
	Host     string            `json:"host,omitempty"`
	// Running lists the attempts that the agent runs already, or whose end it must still report, after the server was
	// away.
	Running []queue.Ref `json:"running,omitempty"`
	// Since distinguishes attempts that have the same numbers, as after a restore of the database. A bridge reports the
	// begin in the queueing system if that is later.
	Since []time.Time `json:"running_since,omitempty" doc:"When each attempt of running started or, at a bridge, began"`
	// Instance is a secret of the agent.
	Instance string `json:"instance,omitempty" doc:"Secret, e.g. 128 random bits, with which the server recognizes the agent when it joins again. While the agent is alive, the server refuses others that join under its name without this secret"`
	// Only bridges set Ledger and TakeOver. Only this ledger records the tasks that the bridge gave to the queueing
	// system; a bridge with another ledger would submit them again.
	Ledger   string `json:"ledger,omitempty" doc:"For a bridge: identity of the ledger of its tasks; the server accepts no other ledger under the node's name"`
	TakeOver bool   `json:"take_over,omitempty" doc:"For a bridge: its previous ledger is lost"`
	Again    bool   `json:"again,omitempty" doc:"The node has joined before; attempts not in running never reached it"`
	// Only bridges set LeaseSeconds: how long they hold the tasks that they get.
	LeaseSeconds float64 `json:"lease_seconds,omitempty" minimum:"0" maximum:"2592000" doc:"For a bridge: duration of its first leases; at least ttl_seconds"`
	// Facts are what doctor checks about the machine.
	Facts *Facts `json:"facts,omitempty"`
}

// JoinResponse admits the agent or worker.
type JoinResponse struct {
	Session    string  `json:"session" doc:"Id to send with every poll"`
	TTLSeconds float64 `json:"ttl_seconds" doc:"Duration of a lease without renewal"`
	// A sole server may not listen, or may answer renewals with 503 and the code "unavailable". Then no server gives
	// the agent's tasks to others, nor does it within the length of a lease afterwards.
	Sole bool `json:"sole,omitempty" doc:"No other server uses the store"`
	// Foreign attempts have the numbers of attempts of this database that began later, or will begin later.
	Foreign []queue.Ref `json:"foreign,omitempty" doc:"Running attempts that are unknown to the database, because it was restored. End them, and do not report them"`
}

// PollRequest asks for work. The server answers when there is some, or after the wait.
type PollRequest struct {
	Session string `json:"session"`
	// Ack lists the attempts that the agent received by earlier polls and has begun.
	Ack         []queue.Ref `json:"ack,omitempty" doc:"Attempts that the node received; the server sends unacknowledged attempts again"`
	WaitSeconds float64     `json:"wait_seconds,omitempty" maximum:"60" doc:"How long to wait for work; the server may shorten it"`
	// The agent repeats Facts at intervals.
	Facts *Facts `json:"facts,omitempty"`
}

// PollResponse says what the agent must do.
type PollResponse struct {
	Start     []Lease      `json:"start,omitempty"`
	Stop      []Stop       `json:"stop,omitempty"`
	Logs      []LogRequest `json:"logs,omitempty"`
	Sole      bool         `json:"sole,omitempty" doc:"As in the answer to join"`
	Rejoin    bool         `json:"rejoin,omitempty" doc:"The session is over: join again"`
	Displaced bool         `json:"displaced,omitempty" doc:"The agent counted as lost, and another agent has joined under its name: it must exit"`
}

// Lease is a task to run.
type Lease struct {
	queue.Ref
	Number int       `json:"number" doc:"Number of the task in the array"`
	Until  time.Time `json:"until" doc:"End of the lease by the server's clock; agents should count ttl_seconds from when they sent the poll"`
	Since  time.Time `json:"since" doc:"When it started, by the clock of the database"`
	User   string    `json:"user"`
	Job    Spec      `json:"spec"`
	Tasks  int       `json:"tasks"`
	Nodes  []string  `json:"nodes,omitempty" doc:"Nodes of all tasks of a gang, in order of their numbers"`
}

// Stop names an attempt that must end early.
type Stop struct {
	queue.Ref
	Cause string `json:"cause"`
}

// ReportRequest says how attempts ended, which attempts still run, and which did not begin.
type ReportRequest struct {
	Session  string      `json:"session"`
	Finished []Finished  `json:"finished,omitempty"`
	Renew    []queue.Ref `json:"renew,omitempty" doc:"Attempts that still run: their leases last ttl_seconds from now"`
	// Used has the resources that the attempts of Renew use. An agent leaves it out if it cannot measure.
	Used []views.Used `json:"used,omitempty" doc:"In the order of renew: what the attempts use now; for display"`
	// Release names returned attempts.
	Release []queue.Ref `json:"release,omitempty" doc:"These attempts do not count, and their tasks wait again at once"`
	// LeaseSeconds is how long renewed leases last, if that is longer than usual.
	LeaseSeconds float64 `json:"lease_seconds,omitempty" minimum:"0" maximum:"2592000" doc:"For a bridge, whose tasks continue elsewhere while it is away: duration of renewed leases; at least ttl_seconds"`
	Notes        []Note  `json:"notes,omitempty" doc:"For a bridge: where its tasks are in another queueing system"`

	Drain bool `json:"drain,omitempty" doc:"The node takes no new tasks"`
	Leave bool `json:"leave,omitempty" doc:"The node is leaving"`
}

// Note says where a task is in another queueing system.
type Note struct {
	queue.Ref
	Bridged why.Bridged `json:"bridged"`
}

// Finished is the end of an attempt.
type Finished struct {
	queue.Ref
	State      string  `json:"state" enum:"succeeded,failed,cancelled"`
	Final      bool    `json:"final,omitempty" doc:"The attempt failed, and another one would fail, too"`
	ExitCode   int     `json:"exit_code,omitempty"`
	Signal     string  `json:"signal,omitempty"`
	Cause      string  `json:"cause,omitempty" doc:"Reason, as text"`
	Refused    string  `json:"refused,omitempty" enum:"machine,user,rule,job" doc:"The attempt could not begin on this machine: machine (no task can begin there), user (no task of this user), rule (the machine is not meant to run tasks of this user) or job (something that the job names is missing there). This does not count as an attempt, and the task goes to other machines"`
	NotFound   bool    `json:"not_found,omitempty" doc:"A path in the job does not exist, but the directories above it do"`
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`
	MaxRSS     int64   `json:"max_rss_bytes,omitempty"`
	// EndedAgo is a duration instead of a time, so that the reporter's clock may be wrong. It reaches back to the last
	// renewal at most.
	Since    time.Time `json:"-"` // as in its lease
	At       time.Time `json:"-"` // when it ended, from which the reporter counts EndedAgo
	EndedAgo float64   `json:"ended_seconds_ago,omitempty" minimum:"0" doc:"How long ago it ended; left out: now"`
	// Began and Ended are by the clock of the queueing system. A time outside the lease counts as the nearer end of the
	// lease.
	Began *time.Time `json:"began,omitempty" doc:"For a bridge: when the task began in the queueing system; it is charged from then on"`
	Ended *time.Time `json:"ended,omitempty" doc:"For a bridge: when the task ended there"`
}

// ReportResponse answers in the order of the request.
type ReportResponse struct {
	Finished []*Error `json:"finished,omitempty" doc:"Codes except stale_attempt, not_found, invalid: report again later"`
	Renew    []*Error `json:"renew,omitempty" doc:"The code stale_attempt says that the worker has lost the attempt and must end it"`
	Rejoin   bool     `json:"rejoin,omitempty"`
}

// LogRequest asks an agent for a part of an output.
type LogRequest struct {
	ID string `json:"id"`
	queue.Ref
	Stderr bool  `json:"stderr,omitempty"`
	Offset int64 `json:"offset"` // below 0: from the end
	Limit  int   `json:"limit"`
}

// LogReply is the agent's answer to a LogRequest.
type LogReply struct {
	Chunk LogChunk `json:"chunk"`
	Error string   `json:"error,omitempty"`
}

// ToResult converts f to the result that an agent reports now.
func (f *Finished) ToResult(now time.Time) queue.Result {
	ended := value(f.Ended)
	if ended.IsZero() && f.EndedAgo > 0 {
		ended = now.Add(-duration(f.EndedAgo))
	}
	return queue.Result{Ref: f.Ref, Outcome: queue.Outcome{
		State: queue.State(f.State), ExitCode: f.ExitCode, Signal: f.Signal, Cause: f.Cause,
		CPU: duration(f.CPUSeconds), MaxRSS: f.MaxRSS, Final: f.Final, Refused: queue.Refusal(f.Refused),
		NotFound: f.NotFound,
	}, Began: value(f.Began), Ended: ended}
}

// FromResult converts a result.
func FromResult(ref queue.Ref, o queue.Outcome) Finished {
	return Finished{
		Ref: ref, State: string(o.State), ExitCode: o.ExitCode, Signal: o.Signal, Cause: o.Cause,
		CPUSeconds: o.CPU.Seconds(), MaxRSS: o.MaxRSS, Final: o.Final, Refused: string(o.Refused),
		NotFound: o.NotFound,
	}
}

// FromLease converts a lease for an agent.
func FromLease(l *queue.Lease) Lease {
	return Lease{
		Ref: l.Ref, Number: l.Number, Until: l.Until, Since: l.Started,
		User: l.Job.User, Job: FromSpec(l.Job), Tasks: l.Job.Tasks, Nodes: l.Nodes,
	}
}
