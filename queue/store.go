package queue

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Store keeps jobs from submission to end. All methods may be called from several goroutines at once. When a method
// returns without error its effects are as durable as the store: package store/memory forgets everything, store/sqlite
// has synced to disk.
//
// Methods on several items apply all of them in one transaction and return one result for each, in order. An error
// beside the results is about the call as a whole, and then nothing was changed.
type Store interface {
	// Submit adds jobs and returns the id of each. Ids grow and are never reused. A job with a Key that the same user
	// used before is not added. Submit then returns the id of the first job, with Existing set, or [ErrKeyUsed] if the
	// digests of the two jobs differ, see [Job.Digest]. An item's error is [ErrInvalid] or, for an unknown dependency,
	// [ErrNotFound]; the other items are still added.
	Submit(ctx context.Context, jobs []*Job) ([]Submission, error)

	// Lease leases one waiting task for each want to the holder, until ttl from now. A task of the wanted job must
	// wait, be due and be allowed to run. If there is none, Lease leases a task of a job in Else, or returns a nil
	// Lease. Tasks are taken by index, returned tasks first. Lease takes all tasks of a gang, each for the holder that
	// the want names, or none.
	Lease(ctx context.Context, holder string, wants []Want, ttl time.Duration) ([]Grant, error)

	// Renew extends leases to ttl from now. It does not shorten a longer lease.
	Renew(ctx context.Context, refs []Ref, ttl time.Duration) ([]error, error)

	// Progress records that attempts wait in another queueing system, or when they began there. A report that an
	// attempt waits must be the first about it, and an attempt begins only once. An instant before the lease counts as
	// its start, and an instant in the future as now.
	Progress(ctx context.Context, all []Progress) ([]error, error)

	// Finish ends attempts. An outcome must be Succeeded, Failed or Cancelled, else the verdict is [ErrInvalid]. A
	// failed task with retries left waits again, after a pause. The service of the attempt, from its beginning to its
	// end, is charged to the job's pool. An attempt that its machine could not begin, see [Refusal], counts as lost and
	// is charged nothing.
	Finish(ctx context.Context, results []Result) ([]Verdict, error)

	// Release ends attempts that did no work: the tasks wait again, at once, and
	// nothing is charged.
	Release(ctx context.Context, refs []Ref) ([]error, error)

	// Expire ends the attempts whose lease ran out, or, if holder is not empty, all attempts of holder. It treats the
	// holder as lost. The tasks wait again, unless they were lost too often. It returns the attempts that it ended.
	//
	// A gang continues only as a whole: once one of its attempts ends without success, the feed tells the holders of
	// the others to stop. When the last attempt has ended, by any call and in any way, the first end decides. Either
	// all tasks of the job wait again, including successful ones, or the job is over. Attempts, failures and losses are
	// counted once for the whole gang.
	Expire(ctx context.Context, holder string) ([]Ref, error)

	// StopRuns marks running attempts as stopped early by the scheduler and records the reasons. They still run: the
	// feed tells their holders to stop them, and so does a snapshot. When such an attempt ends as Cancelled, its task
	// waits again at once, and the attempt does not count toward the job's retries. An attempt that succeeds or fails
	// first keeps that result. An item's error is [ErrStaleAttempt] if the attempt is over. StopRuns changes nothing
	// about an attempt that is already being stopped.
	StopRuns(ctx context.Context, stops []Stopped) ([]error, error)

	// Stops returns the records of attempts that were stopped, oldest first.
	Stops(ctx context.Context, q StopQuery) ([]Stopped, error)

	// Alter changes jobs: it cancels, holds, releases or requeues them, or changes their priority.
	//
	// The store records who asked for a hold, and why. Only an administrator releases an administrator's hold on
	// another user's job; anyone else gets [ErrForbidden]. An administrator may take over the hold of a user.
	//
	// [VerbUncancel] undoes a cancellation, and nothing else: waiting tasks that it canceled wait again, and tasks that
	// it stopped wait for another attempt. Tasks that succeeded or failed keep that result. In a gang all tasks wait
	// again, or none if one failed. Holds and dependencies stay. While tasks are still being stopped, the tasks that
	// had waited wait again at once. The other tasks wait again when they have stopped. A task that ends by itself
	// first keeps its result. Jobs that depended on this one and were canceled with it come back too, unless another
	// dependency has ended so that they could never start. The change is refused if the job was not canceled, if all
	// its tasks ended by themselves, or if it could never start.
	//
	// The changes are made in order, except that a job to be uncanceled comes after its dependencies. If a change has
	// already been made as an effect of another one, that is not an error.
	Alter(ctx context.Context, changes []Alteration) ([]error, error)

	// Jobs returns the jobs that match, by id.
	Jobs(ctx context.Context, q Query) ([]*Job, error)

	// Tasks returns the tasks of a job that have started at least once, by index.
	Tasks(ctx context.Context, job int64) ([]Task, error)

	// Snapshot calls f for every job with tasks that wait or run, in order of id, and returns the cursor from which
	// [Store.Changes] continues. It reports a running task that must stop in two changes: first Runs, then Stop.
	Snapshot(ctx context.Context, f func(Change) error) (cursor int64, err error)

	// Changes returns at most "most" changes after a cursor, in commit order, and the next cursor. It leaves out leases
	// that the caller took and ended itself, but in a shared store includes those of others.
	Changes(ctx context.Context, cursor int64, most int) ([]Change, int64, error)

	// Close releases the resources of the store. Later calls fail with [ErrClosed].
	Close() error
}

// Submission is the result for one submitted job.
type Submission struct {
	ID       int64
	Existing bool // the job had been submitted before, under the same key
	Err      error
}

// Want is a claim: one task that an engine decided to start, or all tasks of a gang.
type Want struct {
	Job int64
	// Nodes are the holders of the tasks of a gang, by task index; nil for other jobs.
	Nodes []string
	// Charge is what each task is charged each second until it ends; 0 means the amount of the unit that it takes.
	Charge float64
	// Else lists alternates, jobs of one task each, the best first. If the wanted job cannot be leased, the store
	// leases the first alternate that can be leased and that no other want asks for. The store ignores Else if the
	// wanted job has several tasks and has not ended. Any two wants of a call either have the same list, and then
	// differ only in the job, or lists without a common job.
	Else []int64
	// Rates are the rates under which the start of each task counts. The store keeps their state and takes the tokens
	// together with the lease.
	Rates []sched.RateLimit
	// Holds is what each task holds until its attempt is over. Only a shared store, see [Sharer], has to check it: the
	// running tasks of all engines together may not exceed the limits.
	Holds []sched.Held
}

// Grant is the answer to a want. It holds a lease, possibly of a job in Else, or the leases of a gang by task index.
// Without these it holds the number of tasks of the wanted job that wait now.
type Grant struct {
	Lease   *Lease
	Gang    []*Lease
	Waiting []Waits
	// Refused names the limit that kept the task from starting, such as "rate linkedin" or "license matlab". If it is
	// set the store did not look for the task, which may still wait.
	Refused string
	// Rates are the states of the want's rates after the call.
	Rates []sched.RateState
}

// Waits is a number of tasks of one job that wait until the same instant.
type Waits struct {
	Tasks int
	Begin time.Time // zero: they may start now
}

// Query selects jobs. Empty fields match everything.
type Query struct {
	IDs       []int64
	DependsOn []int64 // jobs that wait for one of these to end, or that were canceled with it
	User      string
	Pool      string // this pool and those below it
	Kind      string
	States    []State
	Failing   bool      // with States: also jobs that have not ended and have a failed task
	Waits     bool      // a task of the job waits; another may run
	Since     time.Time // ended then or later; jobs that have not ended match
	After     int64     // ids above this
	Before    int64     // ids below this, if above 0
	Newest    bool      // by id descending
	Limit     int       // 0 is no limit
}

// Change is an event of a job that a scheduler or a watcher must know about.
type Change struct {
	What   What      `json:",omitzero"`
	Job    Header    `json:",omitzero"`
	Waits  []Waits   `json:",omitempty"` // for Waited: tasks that wait in addition
	Runs   []Run     `json:",omitempty"` // attempts that run (in a snapshot) or changed: see the kinds of change
	State  State     `json:",omitzero"`  // of the job after the change
	Reason string    `json:",omitzero"`  // in words
	At     time.Time `json:",omitzero"`
}

// What is the kind of a change.
type What uint8

// The kinds of change.
const (
	// Waited: tasks of the job began to wait.
	Waited What = iota + 1
	// Withdrawn: no task of the job waits any more.
	Withdrawn
	// Runs: tasks of the job run under leases. Only in a snapshot.
	Runs
	// Stop: tasks of the job run and must be stopped. The feed may repeat it.
	Stop
	// Lost: the attempts in Runs are over without a result; their tasks may wait again.
	Lost
	// Done: the job has ended. Runs are attempts that ended with it and have no Ended of their own.
	Done
	// Leased: another server of the store, see [Peers], leased the tasks in Runs.
	Leased
	// Ended: attempts of other servers of the store are over, but not lost.
	Ended
	// Changed: another server of the store changed a setting, whose key is the Reason; see [Settings].
	Changed
	// Progressed: tasks in Runs wait in another queueing system, or began there.
	Progressed
)

// Header is the part of a job that a scheduler knows: no payload.
type Header struct {
	ID        int64         `json:",omitzero"`
	User      string        `json:",omitzero"`
	Kind      string        `json:",omitzero"`
	Pool      string        `json:",omitzero"`
	Priority  string        `json:",omitzero"`
	QOS       string        `json:",omitzero"`
	Nice      int           `json:",omitzero"`
	Group     string        `json:",omitzero"`
	Requestor string        `json:",omitzero"`
	Limit     time.Duration `json:",omitzero"`
	Request   Amounts       `json:",omitempty"`
	// Constraint is the condition on the node's labels.
	Constraint string `json:",omitzero"`
	// Reservation names the reservation in which the job runs.
	Reservation string   `json:",omitzero"`
	Licenses    Amounts  `json:",omitempty"`
	Rates       []string `json:",omitempty"`
	Handler     bool     `json:",omitzero"` // work for a Go handler of its kind, not a command
	MaxRunning  int      `json:",omitzero"`
	Tasks       int      `json:",omitzero"`
	Gang        int      `json:",omitzero"` // tasks that start all at once
	Spread      bool     `json:",omitzero"` // each of them on a node of its own
	// Submitted is when the job was submitted.
	Submitted time.Time `json:",omitzero"`
	// Avoid are the nodes that could not begin a task of the job.
	Avoid []Avoided `json:",omitempty"`
}

// Run is an attempt that runs or, in Lost, Done and Ended, ran.
type Run struct {
	Ref
	Holder  string    `json:",omitzero"`
	Started time.Time `json:",omitzero"`
	Queued  bool      `json:",omitzero"` // it waits in another queueing system, since Started
	Charge  float64   `json:",omitzero"` // as in the [Want]
	// For an attempt that is over: when it ended, zero if it did no work, and whether its length helps to estimate
	// other tasks of the pool.
	Ended  time.Time `json:",omitzero"`
	Learns bool      `json:",omitzero"`
}

// Stopped is an attempt that the scheduler stopped early to make room for others.
type Stopped struct {
	Ref    Ref
	Reason why.Stop
}

// StopQuery selects stopped attempts. Empty fields match everything.
type StopQuery struct {
	Job   int64
	Since time.Time // stopped at this instant or later
	Limit int       // the latest; 0 is no limit
}

// Notifier is a store that notifies its servers of new changes.
type Notifier interface {
	// Notify sends to c, without blocking, after changes were committed, until the returned function is called.
	Notify(c chan<- struct{}) (stop func())
}

// RateKeeper is a store that reports the state of rates; see [Want].
type RateKeeper interface {
	// Rates returns the state, as of now and sorted by name, of the rates that are still known and under which a task
	// has started.
	Rates(ctx context.Context) ([]sched.RateState, error)
}

// Settings is a store that keeps named values for the program that uses it.
type Settings interface {
	// Settings returns all values by their keys.
	Settings(ctx context.Context) (map[string]string, error)
	// Set keeps a value; an empty value removes the key.
	Set(ctx context.Context, key, value string) error
}

// Auditor is a store that keeps an audit record: changes, and who made them. Entries are never changed or removed,
// except to redact secrets.
type Auditor interface {
	// Audit adds entries to the record and keeps settings, as [Settings] does, in one transaction: every change is
	// recorded, and every recorded change was made.
	Audit(ctx context.Context, entries []AuditEntry, settings map[string]string) error
	// Audited returns the entries that match, newest first.
	Audited(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	// Redact removes secrets from the record: in each entry it replaces the texts Old, New and Note by the results of
	// the function hide. It keeps settings as Audit does, in the same transaction. Where the store can, it overwrites
	// the old text.
	Redact(ctx context.Context, hide func(string) string, settings map[string]string) error
}

// AuditEntry is one change in the record.
type AuditEntry struct {
	ID      int64     // grows; set by the store
	At      time.Time // zero: now
	Who     string    // a user
	From    string    // the channel, e.g. socket, or the name of a file
	What    string    // set, unset, reload, boost, ...
	Subject string    // the thing that changed, e.g. pools.physics.weight
	Old     string    // "" is nothing
	New     string
	Refused bool   // it was tried, but refused
	Note    string // e.g. why
}

// AuditQuery selects entries of the record. Empty fields match everything.
type AuditQuery struct {
	Before int64 // ids below this
	Since  time.Time
	Limit  int // 0 is no limit
}

// Journal is a store that keeps the events of each job.
type Journal interface {
	// Events returns the events of a job, oldest first.
	Events(ctx context.Context, job int64) ([]Event, error)
	// Record adds events.
	Record(ctx context.Context, events []Event) error
}

// Event is one entry in the history of a job.
type Event struct {
	Job  int64
	Task int // -1: the whole job
	At   time.Time
	Code string // e.g. submitted, held, started, lost
	Text string

	// User and the other fields below are data of the job, set only in events that are watched.
	User  string
	Pool  string
	State State
}
