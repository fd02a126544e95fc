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
	QOS       string // quality of service, under the policy multifactor; default: the name of the priority
	Nice      int    // priority that the job gives up, under the policy multifactor

	Argv    []string // command to run, for agents
	Payload []byte   // data for a Go handler, or a script
	// Args, if set, become the Payload, as JSON, and name the Kind; see [Args]. Jobs from a store have only a Payload.
	Args   Args
	Script bool              // Payload is a script, to be run with the arguments after Argv[0]
	Env    map[string]string // added to the agent's clean environment
	Dir    string            // working directory
	Output string            // file for the output; default: a log kept by the agent
	Error  string            // file for the error output; default: with the output

	Request Amounts // per task; if it does not name the unit of shares, 1 of that
	// Constraint is the condition on the node's labels, e.g. "arch=amd64 & rack!=b"; see [cluster.Constraint].
	Constraint string
	// Reservation names the reservation in which the job runs; `fairlead reserve` makes reservations.
	Reservation string
	// Licenses are the licenses that each task holds while it runs, Rates the names of the rates under which each start
	// of a task counts.
	Licenses Amounts
	Rates    []string

	Limit      time.Duration // time limit of each task; 0 is that of the pool, or none; see [NoLimit]
	Begin      time.Time     // no task starts before this instant
	Retries    int           // further attempts for a task that failed
	Backoff    time.Duration // pause before the second attempt; it doubles each time, up to an hour; 0: 5 seconds
	Array      string        // indices such as 0-99 or 1,4,7-9:2; default: one task without index
	MaxRunning int           // tasks at once; 0 is no limit
	// Gang is the number of tasks that start at the same moment, or not at all. They are numbered from 0, and end or
	// wait again together. 0 and 1 mean no gang. A gang has no Array.
	Gang int
	// Spread puts each task of the gang on a different node; otherwise several may share one.
	Spread bool
	After  []Dependency // jobs that must end before this one starts
	Key    string       // idempotency key: a second submission with the same user and key returns the first job
	// KeyUntilEnd limits the Key to jobs that have not ended: once the earlier job has ended, this one is added and
	// takes the key.
	KeyUntilEnd bool
	// Digest identifies the contents of a submission with a Key; a client fills it in. If the job that has the Key has
	// another digest, this job is refused with [ErrKeyUsed], unless KeyUntilEnd is set. A job without a digest matches
	// every digest. Jobs from a store have none.
	Digest string
	Held   bool // waits until it is released

	// The rest is set by the store.

	State     State
	Tasks     int // of the job in total
	Waiting   int // tasks that wait
	Running   int // leased
	Queued    int // part of Running that waits in another queueing system
	Succeeded int
	Failed    int
	Cancelled int
	Pending   int  // number of jobs in After that have not ended
	Cancel    bool // was canceled while tasks were running
	// HeldBy is the user who holds the job, if known, and HeldWhy the reason, in words.
	HeldBy    string
	HeldWhy   string
	Submitted time.Time
	// Avoid are the nodes that could not begin a task of the job, and get no more of its tasks; see [Refusal].
	Avoid   []Avoided
	Started time.Time // first task
	Ended   time.Time // last task
	Cause   string    // why it failed or was canceled, in words
}

// Amounts maps resources (cpu, mem, gpu, slots, ...) to whole amounts. A type of a resource
// follows a colon: a node with 2 of gpu:a100 has 2 of gpu, too.
type Amounts = map[string]int64

// Dependency is a job that must end before another one may start.
type Dependency struct {
	Job int64
	On  DependsOn
}

// Wait reports whether a job must wait for the dependency. The state is that of the dependency's job, "" if there is no
// such job. It returns an error if the dependency can never be met.
func (d Dependency) Wait(state State) (wait bool, err error) {
	switch {
	case state == "":
		return false, fmt.Errorf("after: %w", NoJob(d.Job))
	case !state.Ended():
		return true, nil
	case d.On.Met(state):
		return false, nil
	}
	return false, Invalidf("after", "job %d has ended as %s; a job that waits for %s:%d could never start", d.Job, state, d.On, d.Job)
}

// DependsOn is how a job must end to meet a dependency.
type DependsOn string

// The kinds of dependency. A dependency that cannot be met any more cancels the job
// that waits for it.
const (
	OnOK     DependsOn = "ok"     // it succeeded
	OnFailed DependsOn = "failed" // it failed or was canceled
	OnAny    DependsOn = "any"    // it ended
)

// Met reports whether a job that ended in the state meets the dependency.
func (d DependsOn) Met(s State) bool {
	return d == OnAny || (d == OnOK) == (s == Succeeded)
}

// State is the stage of a job or a task in its life; see docs/reference/states.md.
type State string

// The states. Jobs can be held or blocked, tasks cannot. A task that waits in another queueing system has a lease, so
// its State is Running, with Queued set.
const (
	Held      State = "held"    // until someone releases it
	Blocked   State = "blocked" // until the jobs it depends on have ended
	Waiting   State = "waiting" // for its turn
	Queued    State = "queued"  // nothing of it runs, but some task waits in another queueing system
	Running   State = "running" // at least one task runs
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended reports whether the state is final, unless someone requeues the job.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == Cancelled }

// States returns all states, in the order of a job's life.
func States() []State {
	return []State{Held, Blocked, Waiting, Queued, Running, Succeeded, Failed, Cancelled}
}

// Task is one task of a job. Stores keep no record of a task that never started.
type Task struct {
	Job     int64
	Index   int // from 0; Number is the number that the user gave
	Number  int // as the job's Array names it
	State   State
	Attempt int       // of the current or last lease, from 1
	Holder  string    // who runs it, or ran it last
	Begin   time.Time // earliest start, while it waits for another attempt
	Started time.Time
	Ended   time.Time
	Until   time.Time // end of the lease while it runs
	Outcome Outcome   // of the last attempt
	Losses  int       // attempts that ended because the holder disappeared or could not begin them
	Fails   int       // attempts that ended in failure
	Requeue bool      // waits again when its attempt ends, however that ends
	Stopped bool      // waits again when its attempt ends as Cancelled: the scheduler stopped it
	// Queued: the attempt has waited in another queueing system since Started, or ended there without having begun; see
	// [Progress].
	Queued bool
	// NoRetry means that the task is not tried again if it fails, because the waiting tasks of its job were canceled
	// while it ran.
	NoRetry bool
	Alone   bool // ended as Cancelled without a cancel of its job: no [VerbUncancel] brings it back
	// Charge is what the current or last attempt is charged each second; 0 means the amount of the unit that the task
	// takes.
	Charge float64
}

// Outcome is how an attempt ended.
type Outcome struct {
	State    State         // Succeeded, Failed or Cancelled
	ExitCode int           // of the process
	Signal   string        // signal that ended the process, if any
	Cause    string        // in words, e.g. "time limit of 1h0m0s"
	CPU      time.Duration // user and system time
	MaxRSS   int64         // peak memory, in bytes
	Final    bool          // a failed task is not tried again, whatever its job allows
	// Refused is set if the machine could not begin the task.
	Refused Refusal `json:",omitempty"`
	// NotFound, with [RefusedJob]: a name in the job does not exist, though the machine has the directories above it.
	// So it is probably missing on all machines. Stores do not keep NotFound.
	NotFound bool `json:",omitempty"`
	// Next is the pause before the next attempt, if the holder chooses it, from 0 to [MaxLimit]; if nil, the job's
	// Backoff decides. A failed attempt still counts toward Job.Retries. A canceled attempt does not: the task was only
	// postponed. Stores do not keep Next.
	Next *time.Duration `json:",omitempty"`
}

// Lease is the time-limited right to run one task. Attempts of a task are numbered from 1; no number is used twice.
type Lease struct {
	Ref
	Job     *Job
	Number  int // the task's number in the user's array
	Holder  string
	Started time.Time
	Until   time.Time
	// Nodes are the holders of all tasks of a gang, by task index; nil for other jobs.
	Nodes []string
}

// Ref names one attempt of one task. All writes of a holder contain it, and are refused with [ErrStaleAttempt] once the
// attempt is over.
type Ref struct {
	JobID   int64 `json:"job"`
	Task    int   `json:"task"`
	Attempt int   `json:"attempt"`
}
