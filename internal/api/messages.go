package api

import (
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// SubmitRequest submits jobs.
type SubmitRequest struct {
	Jobs   []Spec `json:"jobs" minItems:"1" maxItems:"10000"`
	DryRun bool   `json:"dry_run,omitempty" doc:"Show the effects; change nothing"`
	// Estimate requests an estimate of the start, if there is only one job.
	Estimate bool `json:"estimate,omitempty" doc:"Add an estimate of the start, for one job only; the estimate may take 200 ms. A dry run always adds it"`
	// Unsatisfiable accepts jobs that no known node could ever run.
	Unsatisfiable bool `json:"allow_unsatisfiable,omitempty" doc:"Accept jobs that no known node could ever run"`
}

// SubmitResponse has a result for each job.
type SubmitResponse struct {
	Version int         `json:"version"`
	Jobs    []Submitted `json:"jobs"`
}

// Submitted is the result for one submitted job.
type Submitted struct {
	ID       int64  `json:"id,omitempty"`
	Existing bool   `json:"existing,omitempty" doc:"The job was submitted before, under the same key"`
	Error    *Error `json:"error,omitempty"`
	Pool     string `json:"pool,omitempty"`
	User     string `json:"user,omitempty"`
	Tasks    int    `json:"tasks,omitempty"`
	// Rank is the place of the job's first task in the order of starts; in a dry run, the place that it would have.
	Rank    int64   `json:"rank,omitempty"`
	Of      int64   `json:"of,omitempty"`
	Reason  *Reason `json:"reason,omitempty"`
	Warning string  `json:"warning,omitempty"`
	// LimitSeconds is the time limit of the job: its own, or that of its pool if it named none.
	LimitSeconds float64 `json:"limit_seconds,omitempty" doc:"Time limit of each task; 0 is none"`
	Hint         string  `json:"hint,omitempty" doc:"Advice for the job"`
	// Start is the estimated start, and Changes would make the job start sooner.
	Start   *why.Estimate `json:"start,omitempty" doc:"Estimated start, if no new job goes ahead"`
	Changes []why.Change  `json:"changes,omitempty" doc:"Changes with which it would start sooner"`
}

// Variation is a changed request of a job; omitted fields stay as they are.
type Variation struct {
	LimitSeconds *float64          `json:"limit_seconds,omitempty" doc:"Time limit of each task; 0 is the limit of its pool, and -1 is none"`
	Request      map[string]int64  `json:"request,omitempty" doc:"New amounts of these resources; 0 is none"`
	Constraint   *string           `json:"constraint,omitempty"`
	Licenses     *map[string]int64 `json:"licenses,omitempty" doc:"All licenses"`
	Pool         *string           `json:"pool,omitempty"`
	Priority     *string           `json:"priority,omitempty"`
	QOS          *string           `json:"qos,omitempty"`
	Nice         *int              `json:"nice,omitempty" minimum:"-10000" maximum:"10000"`
}

// ToVariation converts v for the forecast.
func (v *Variation) ToVariation() forecast.Variation {
	out := forecast.Variation{Request: v.Request, Constraint: v.Constraint, Pool: v.Pool, Priority: v.Priority, QOS: v.QOS, Nice: v.Nice}
	if v.LimitSeconds != nil {
		d := time.Duration(*v.LimitSeconds * float64(time.Second))
		out.Limit = &d
	}
	if v.Licenses != nil {
		if out.Licenses = *v.Licenses; out.Licenses == nil {
			out.Licenses = map[string]int64{}
		}
	}
	return out
}

// JobList is a page of jobs.
type JobList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Jobs    []Job     `json:"jobs"`
	Summary Summary   `json:"summary"`
	More    bool      `json:"more" doc:"There are more jobs; continue after the last id"`
}

// Summary is the state of the cluster in one line.
type Summary struct {
	Waiting  int64            `json:"waiting" doc:"Tasks that wait for room, or wait in another queueing system"`
	Queued   int64            `json:"queued,omitempty" doc:"Of these: tasks that wait in another queueing system"`
	Running  int64            `json:"running" doc:"Running tasks"`
	Unit     string           `json:"unit"`
	Capacity map[string]int64 `json:"capacity"`
	Free     map[string]int64 `json:"free"`
	Endless  bool             `json:"endless,omitempty" doc:"A bridge without a limit: the amounts are the ones in use"`
	Away     int64            `json:"away,omitempty" doc:"Units of nodes that are down, drained or in maintenance"`
	LastStep *time.Time       `json:"last_step,omitempty"`
	Started  uint64           `json:"tasks_started" doc:"Tasks started since the server started"`
}

// JobResponse is one job with its tasks.
type JobResponse struct {
	Version int    `json:"version"`
	Job     Job    `json:"job"`
	Tasks   []Task `json:"tasks"`
	More    bool   `json:"more" doc:"There are more tasks; continue after the last index"`
}

// AlterRequest changes jobs.
type AlterRequest struct {
	Verb     string  `json:"verb" enum:"cancel,uncancel,hold,release,requeue,prioritise,move,limit"`
	Jobs     []int64 `json:"jobs" minItems:"1" maxItems:"100000"`
	Priority string  `json:"priority,omitempty"`
	QOS      *string `json:"qos,omitempty" doc:"Quality of service from now on"`
	Nice     *int    `json:"nice,omitempty" doc:"Number to subtract from the priority from now on"`
	Pool     string  `json:"pool,omitempty" doc:"Target pool, for the verb move"`
	Limit    float64 `json:"limit_seconds,omitempty" doc:"New time limit; -1: none; 0: that of the pool (move: as before)"`
	Cause    string  `json:"cause,omitempty"`
	Waiting  bool    `json:"waiting,omitempty" doc:"With the verb cancel: only the waiting tasks; running ones continue"`
}

// AlterResponse has the result for each job, in order; an empty error means success.
type AlterResponse struct {
	Version int      `json:"version"`
	Results []*Error `json:"results"`
	Notes   []string `json:"notes,omitempty" doc:"Parts of the jobs that the change does not affect"`
}

// Shares is the tree of pools.
type Shares struct {
	Version         int              `json:"version"`
	At              time.Time        `json:"at"`
	Unit            string           `json:"unit"`
	UsageUnit       string           `json:"usage_unit"`
	HalfLifeSeconds float64          `json:"half_life_seconds"`
	Config          string           `json:"config"`
	Pools           []views.PoolView `json:"pools"`
	Summary         Summary          `json:"summary"`

	Fairness views.FairnessView `json:"fairness"`

	WaitsSince *time.Time           `json:"waits_since,omitempty" doc:"Start of the time to which waits refers"`
	Waits      []explain.WaitReason `json:"waits,omitempty" doc:"Reasons for which pools waited, the longest first"`
}

// Nodes lists the nodes.
type Nodes struct {
	Version int              `json:"version"`
	At      time.Time        `json:"at"`
	Unit    string           `json:"unit"`
	Nodes   []views.NodeView `json:"nodes"`
}

// NodeTasks lists the running tasks of nodes, and recently ended ones if the request asks for them.
type NodeTasks struct {
	Version int                `json:"version"`
	At      time.Time          `json:"at"`
	Unit    string             `json:"unit"`
	Tasks   []history.NodeTask `json:"tasks"`
}

// Limits lists the licenses and rates of the cluster, and, if the request asks for them, the jobs, tasks and pools
// of its users.
type Limits struct {
	Version  int                  `json:"version"`
	At       time.Time            `json:"at"`
	Licenses []engine.LicenseView `json:"licenses"`
	Rates    []engine.RateView    `json:"rates"`
	// Users are the users who have jobs, with the users with the most running tasks first.
	Users []engine.UserStanding `json:"users,omitempty"`
	// UserLimits are the limits per user by their fields in user_limits; limits of 0 are left out.
	UserLimits map[string]int `json:"user_limits,omitempty"`
}

// DrainRequest drains or resumes a node.
type DrainRequest struct {
	Drain       bool   `json:"drain"`
	Maintenance bool   `json:"maintenance,omitempty" doc:"The node is drained because somebody is working on it"`
	Forget      bool   `json:"forget,omitempty" doc:"Remove the node, with its drain and the ledger identity of a bridge. The node has to be down and to have no tasks"`
	Reason      string `json:"reason,omitempty"`
}

// NodeState is the state of a node after it was drained or resumed: a node that is down stays down.
type NodeState struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	State   string `json:"state"`
	// Stranded is set if the node was drained: the number of waiting jobs that no other node that takes tasks could run.
	Stranded int `json:"stranded,omitempty"`
	// Before is the drain that the change replaced or ended, to undo the change. It is missing if the node took tasks.
	Before *engine.Drain `json:"before,omitempty"`
}

// Event is something that happened.
type Event struct {
	Job  int64     `json:"job"`
	Task int       `json:"task"` // -1: the whole job
	At   time.Time `json:"at"`
	Code string    `json:"code"`
	Text string    `json:"text,omitempty"`

	User  string `json:"user,omitempty"`
	Pool  string `json:"pool,omitempty"`
	State string `json:"state,omitempty"`
}

// FromEvent converts an event.
func FromEvent(e queue.Event) Event {
	return Event{e.Job, e.Task, e.At, e.Code, e.Text, e.User, e.Pool, string(e.State)}
}

// History lists the events of a job.
type History struct {
	Version int     `json:"version"`
	Job     int64   `json:"job"`
	Events  []Event `json:"events"`
	More    bool    `json:"more" doc:"There are more events; continue after the number of events in this answer"`
}

// StopList lists tasks that were stopped to make room for others.
type StopList struct {
	Version int        `json:"version"`
	At      time.Time  `json:"at"`
	Stops   []why.Stop `json:"stops"`
}

// LogChunk is a part of a task's output.
type LogChunk struct {
	Data   []byte `json:"data,omitempty"`
	Offset int64  `json:"offset" doc:"Offset of the data"`
	Size   int64  `json:"size" doc:"Size of the whole output so far"`
	// Ended says that the attempt is over: no more output will come.
	Ended bool   `json:"ended"`
	Later string `json:"later,omitempty" doc:"Why there is no output yet: another queueing system returns the output when the task ends"`
}

// ServerStatus is what the server says about itself.
type ServerStatus struct {
	Version       int          `json:"version"`
	Program       string       `json:"program"`
	At            time.Time    `json:"at"`
	Started       time.Time    `json:"started"`
	Store         string       `json:"store"`
	Config        ConfigStatus `json:"config"`
	Summary       Summary      `json:"summary"`
	Steps         uint64       `json:"steps"`
	TasksStarted  uint64       `json:"tasks_started"`
	TasksFinished uint64       `json:"tasks_finished"`
	TasksLost     uint64       `json:"tasks_lost"`
	StepSeconds   float64      `json:"step_seconds"`
	// The following fields show how the scheduler performs now.
	StoreSeconds    float64    `json:"store_seconds" doc:"How long the database took to answer"`
	CaughtUpSeconds float64    `json:"caught_up_seconds" doc:"How long it took until the scheduler had read the whole database"`
	StepsPerSecond  float64    `json:"steps_per_second" doc:"Over the last minute"`
	StartsPerSecond float64    `json:"starts_per_second" doc:"Started tasks, over the last minute"`
	LastError       string     `json:"last_error,omitempty"`
	LastErrorAt     *time.Time `json:"last_error_at,omitempty"`
	You             Actor      `json:"you"`
	Listen          []string   `json:"listen"`
	LeaseSeconds    float64    `json:"lease_seconds"`
}

// ConfigStatus says which configuration is current.
type ConfigStatus struct {
	Hash    string     `json:"hash"`
	File    string     `json:"file,omitempty"`
	Since   time.Time  `json:"since"`
	Problem string     `json:"problem,omitempty" doc:"Errors of the present file; the last good one is in use"`
	At      *time.Time `json:"problem_at,omitempty"`
	Text    string     `json:"text,omitempty" doc:"The effective configuration, as YAML"`
	// Settings override the file while the server runs.
	Settings []Setting `json:"settings,omitempty"`
	// Aside says that the settings do not fit the file, and are not applied.
	Aside bool `json:"settings_aside,omitempty"`
}

// WaitsForRestart begins the problem of a valid file that takes effect only at the next start of the server.
const WaitsForRestart = "the file waits for the next start of the server"

// Actor is the principal that sent a request.
type Actor struct {
	User  string `json:"user"`
	UID   int    `json:"uid"`
	Admin bool   `json:"admin"`
	By    string `json:"by" doc:"How the user was identified: socket, session, or unknown"`
	// OnlyLooks says that this is a session of an administrator that changes nothing.
	OnlyLooks bool `json:"only_looks,omitempty" doc:"This is a read-only session of an administrator"`
	// AdminUntil is when the session of an administrator becomes read-only.
	AdminUntil *time.Time `json:"admin_until,omitempty" doc:"From then on the session is read-only"`
}
