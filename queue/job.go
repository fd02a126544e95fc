package queue

import (
	"fmt"
	"time"
)

// Job is what a user submits. It has one task, or several that differ by their
// index. The zero value of a field is its default.
type Job struct {
	ID        int64
	Name      string
	Kind      string // type of work: names the handler, may choose the pool
	User      string // who submitted it
	Group     string // the user's primary group
	Requestor string // free text that placement rules may match; default: the user
	Pool      string // path in the tree of shares; default: by placement rules
	Priority  string // name of a priority; default: normal
	QOS       string // quality of service, under the policy multifactor; default: as the priority is called
	Nice      int    // what the job gives up, under the policy multifactor

	Argv    []string // command to run, for agents
	Payload []byte   // data for a Go handler, or a script
	// Args, if set, become the Payload, as JSON, and name the Kind; see [Args]. Jobs that come
	// from a store have a Payload only.
	Args   Args
	Script bool              // Payload is a script, to be run with the arguments after Argv[0]
	Env    map[string]string // added to the agent's clean environment
	Dir    string            // working directory
	Output string            // file for the output; default: a log kept by the agent
	Error  string            // file for the error output; default: with the output

	Request Amounts // per task; without the unit of shares one of it
	// Constraint is what the labels of the node have to satisfy, e.g. "arch=amd64 & rack!=b";
	// see [cluster.Constraint].
	Constraint string
	// Reservation is the name of the one in which it runs; `fairlead reserve` makes them.
	Reservation string
	// Licenses are the licenses that each task holds while it runs, Rates the names of the rates
	// that each start of a task counts under.
	Licenses Amounts
	Rates    []string

	Limit      time.Duration // each task is ended after this; 0 is that of the pool, or none; see [NoLimit]
	Begin      time.Time     // not before
	Retries    int           // further tries of a task that failed
	Backoff    time.Duration // pause before the second try; it doubles each time, up to an hour; 0: 5 seconds
	Array      string        // indices such as 0-99 or 1,4,7-9:2; default: one task without index
	MaxRunning int           // tasks at once; 0 is no limit
	// Gang is how many tasks start all at once, or not at all: they are numbered from 0, need
	// one another, and end or wait again together. 0 and 1: none. It has no Array.
	Gang int
	// Spread has each task of the gang on a node of its own; otherwise several may share one.
	Spread bool
	After  []Dependency // jobs that have to end before
	Key    string       // idempotency: a second job of the user with the same key is the first
	// KeyUntilEnd has the Key stand for a job only until that has ended: then this one is added,
	// and has the key.
	KeyUntilEnd bool
	// Digest distinguishes the submission with a Key from others; a client fills it in. The job that
	// has the Key must have the same digest, or none, or this job is refused with [ErrKeyUsed], except
	// with KeyUntilEnd. Jobs that come from a store have none.
	Digest string
	Held   bool // waits until it is released

	// The rest is set by the store.

	State     State
	Tasks     int // of the job, in all
	Waiting   int // of these
	Running   int // leased
	Queued    int // of Running: wait in another queueing system
	Succeeded int
	Failed    int
	Cancelled int
	Pending   int  // jobs of After that have not ended
	Cancel    bool // was cancelled while tasks were running
	// HeldBy is who holds it, if that is known, and HeldWhy why, in words.
	HeldBy    string
	HeldWhy   string
	Submitted time.Time
	// Avoid are the nodes that could not begin a task of it, and do not get one again; see
	// [Refusal].
	Avoid   []Avoided
	Started time.Time // first task
	Ended   time.Time // last task
	Cause   string    // why it failed or was cancelled, in words
}

// Amounts maps resources (cpu, mem, gpu, slots, ...) to whole amounts. A type of a resource
// follows a colon: a node with 2 of gpu:a100 has 2 of gpu, too.
type Amounts = map[string]int64

// Dependency is a job that has to end before another one may start.
type Dependency struct {
	Job int64
	On  DependsOn
}

// Wait says whether a job has to wait for one in the given state, "" if there is no such
// job. It is an error to depend on something that can never happen.
func (d Dependency) Wait(state State) (wait bool, err error) {
	switch {
	case state == "":
		return false, fmt.Errorf("after: job %d: %w", d.Job, ErrNotFound)
	case !state.Ended():
		return true, nil
	case d.On.Met(state):
		return false, nil
	}
	return false, Invalidf("after", "job %d has ended as %s; what waits for %s:%d could never start", d.Job, state, d.On, d.Job)
}

// DependsOn says how a job has to end for one that depends on it.
type DependsOn string

// The kinds of dependency. A dependency that cannot be met any more cancels the job
// that waits for it.
const (
	OnOK     DependsOn = "ok"     // it succeeded
	OnFailed DependsOn = "failed" // it did not
	OnAny    DependsOn = "any"    // it ended
)

// Met reports whether a job that ended in the state meets the dependency.
func (d DependsOn) Met(s State) bool {
	return d == OnAny || (d == OnOK) == (s == Succeeded)
}

// State is where a job or a task is in its life; see docs/reference/states.md.
type State string

// The states. A task is never held or blocked: its job is. One that waits in another queueing
// system is Running, with Queued set, as it is leased.
const (
	Held      State = "held"    // until someone releases it
	Blocked   State = "blocked" // until the jobs it depends on have ended
	Waiting   State = "waiting" // for its turn
	Queued    State = "queued"  // nothing of it runs, but something waits in another queueing system
	Running   State = "running" // at least one task runs
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended reports whether nothing more happens in this state, unless someone requeues
// the job.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == Cancelled }

// States are all states, in the order of a life.
func States() []State {
	return []State{Held, Blocked, Waiting, Queued, Running, Succeeded, Failed, Cancelled}
}

// Task is one task of a job. Tasks that never started are not kept one by one.
type Task struct {
	Job     int64
	Index   int // from 0; the user's own number is in Number
	Number  int // as the job's Array names it
	State   State
	Attempt int       // of the current or last lease, from 1
	Holder  string    // who runs it, or ran it last
	Begin   time.Time // not before, when it waits for another try
	Started time.Time
	Ended   time.Time
	Until   time.Time // end of the lease while it runs
	Outcome Outcome   // of the last attempt
	Losses  int       // attempts that ended because the holder disappeared or could not begin them
	Fails   int       // attempts that ended in failure
	Requeue bool      // waits again when its attempt ends, however that ends
	Stopped bool      // waits again when its attempt ends as Cancelled: the scheduler stopped it
	// Queued: the attempt waits in another queueing system since Started, or ended there
	// without having begun; see [Progress].
	Queued bool
	Alone  bool // ended as Cancelled while nobody had cancelled its job: no [VerbUncancel] brings it back
	// Charge is what the current or last attempt is charged each second; 0 is what the task
	// takes of the unit.
	Charge float64
}

// Outcome is how an attempt ended.
type Outcome struct {
	State    State         // Succeeded, Failed or Cancelled
	ExitCode int           // of the process
	Signal   string        // that ended the process, if any
	Cause    string        // in words, e.g. "time limit of 1h0m0s"
	CPU      time.Duration // user and system time
	MaxRSS   int64         // largest memory, in bytes
	Final    bool          // a task that failed so is not tried again, whatever its job allows
	// Refused says that the task has not begun: its machine could not begin it.
	Refused Refusal `json:",omitempty"`
	// Next is the pause before the next attempt, where the holder chooses it, from 0 to [MaxLimit]; nil: the job does.
	// A failed attempt still is one of the tries that Job.Retries allows. A cancelled one is no try: the task was put
	// off. Stores do not keep it.
	Next *time.Duration `json:",omitempty"`
}

// Lease is the time-limited right to run one task. Attempts of a task are numbered
// from 1; a number is never used again.
type Lease struct {
	Ref
	Job     *Job
	Number  int // the task's number in the user's array
	Holder  string
	Started time.Time
	Until   time.Time
	// Nodes are the holders of all tasks of a gang, in the order of their indices; nil for
	// other jobs.
	Nodes []string
}

// Ref names one attempt of one task. All writes of a holder name it, and are refused
// with [ErrStaleAttempt] once the attempt is over.
type Ref struct {
	JobID   int64 `json:"job"`
	Task    int   `json:"task"`
	Attempt int   `json:"attempt"`
}
