package queue

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Store keeps jobs from submission to end. All methods may be called from several
// goroutines at once. What a method acknowledges by returning without error is
// durable, as far as the store is: package store/memory forgets everything,
// store/sqlite has synced it to disk.
//
// Methods on several items apply all of them in one transaction and report on each,
// in order; the error beside the reports is for the call as a whole, and then nothing
// was changed.
type Store interface {
	// Submit adds jobs and returns for each its id. Ids grow and are never used again.
	// A job with a Key that the same user used before is not added; the id of the
	// first is returned, with Existing set, unless their digests differ: then the error is
	// [ErrKeyUsed], see [Job.Digest]. An item's error is [ErrInvalid] or, for an
	// unknown dependency, [ErrNotFound]; other items are added nevertheless.
	Submit(ctx context.Context, jobs []*Job) ([]Submission, error)

	// Lease takes one waiting task for each want, for holder, until ttl from now. A
	// want for a job none of whose tasks waits, is due and may run is lost: its Lease
	// is nil, or one of a job that the want names instead. Tasks are taken in order of their
	// index, returned ones first. Of a gang all tasks are taken, each for the holder that the
	// want names, or none.
	Lease(ctx context.Context, holder string, wants []Want, ttl time.Duration) ([]Grant, error)

	// Renew extends leases to ttl from now. One that lasts longer stays as it is.
	Renew(ctx context.Context, refs []Ref, ttl time.Duration) ([]error, error)

	// Progress notes how far attempts are in another queueing system: that they wait there, or
	// when they began. That it waits is said of an attempt before anything else is; it begins
	// once. No instant counts that is before the lease, or in the future.
	Progress(ctx context.Context, all []Progress) ([]error, error)

	// Finish ends attempts. An outcome must be Succeeded, Failed or Cancelled, else the
	// verdict is [ErrInvalid]. A task that failed and has tries left waits again, after a
	// pause. The service of the attempt, from its beginning to its end, is charged to the
	// job's pool. One that its machine could not begin, see [Refusal], counts as lost and is
	// charged nothing.
	Finish(ctx context.Context, results []Result) ([]Verdict, error)

	// Release ends attempts that did no work: the tasks wait again, at once, and
	// nothing is charged.
	Release(ctx context.Context, refs []Ref) ([]error, error)

	// Expire ends the attempts whose lease ran out, or all of holder if it is not
	// empty: their holder is taken for lost. The tasks wait again, unless they were
	// lost too often. It returns the attempts that it ended.
	//
	// A gang, however, goes on as a whole only: once an attempt of it has ended in any way
	// but with success, the feed tells the holders of the others to stop. When the last
	// of them has ended, by whatever call and in whatever way, all tasks of the job wait
	// again, also tasks that had succeeded, or the job is over: the first end has decided
	// that. Attempts, failures and losses are counted once for all of them.
	Expire(ctx context.Context, holder string) ([]Ref, error)

	// StopRuns marks running attempts as ended early by the scheduler and keeps the
	// reasons. They still run: the feed tells their holders to stop them, and a
	// snapshot tells it again. When such an attempt ends as Cancelled its task waits
	// again at once, which counts as no try of its job; one that succeeds or fails by
	// itself meanwhile has done so. An item's error is [ErrStaleAttempt] if the attempt
	// is over; one that is being stopped already is left alone.
	StopRuns(ctx context.Context, stops []Stopped) ([]error, error)

	// Stops returns the records of attempts that were stopped, oldest first.
	Stops(ctx context.Context, q StopQuery) ([]Stopped, error)

	// Alter changes jobs: it cancels, holds, releases or requeues them, or changes
	// their priority.
	//
	// A hold is kept with who asked for it, and why. What an administrator holds of another user's
	// only an administrator releases, and may take over from the user: else it is refused
	// with [ErrForbidden].
	//
	// [VerbUncancel] undoes a cancellation, and nothing else: the tasks that it cancelled wait
	// again, where they had waited, and the tasks that it stopped wait for another attempt. Tasks
	// that had succeeded or failed stay so; of a gang, which runs as a whole only, all tasks wait again,
	// and none if one has failed. A hold stays, and so does what the job waited for. While tasks
	// are still being stopped, tasks that had waited do so again at once, and the others as soon as
	// they have stopped; one that ends by itself meanwhile has done so. Jobs that were cancelled
	// because of this one, as they depended on it, come back with it, unless another one that
	// they depend on has ended in such a way that they could never start. It is refused if
	// the job was not cancelled, if all of it had ended by itself, or if it could never start.
	//
	// The changes are made in their order, but of several jobs that are to come back those come
	// first that others depend on. What one of them has done along to a job that another one is
	// about is done, and no error.
	Alter(ctx context.Context, changes []Alteration) ([]error, error)

	// Jobs returns the jobs that match, by id.
	Jobs(ctx context.Context, q Query) ([]*Job, error)

	// Tasks returns the tasks of a job that have started at least once, by index.
	Tasks(ctx context.Context, job int64) ([]Task, error)

	// Snapshot calls f for every job with tasks that wait or run, in order of id, and
	// returns the cursor from which [Store.Changes] goes on. What runs and has to be
	// stopped is told twice, first as Runs, then as Stop.
	Snapshot(ctx context.Context, f func(Change) error) (cursor int64, err error)

	// Changes returns up to most changes after cursor, in the order in which they were
	// committed, and the cursor to go on from. Leases that the caller took and ended
	// itself are not among them; those of others are, where a store is shared.
	Changes(ctx context.Context, cursor int64, most int) ([]Change, int64, error)

	// Close releases what the store holds. Calls that come later fail with [ErrClosed].
	Close() error
}

// Submission is the fate of one submitted job.
type Submission struct {
	ID       int64
	Existing bool // the job had been submitted before, under the same key
	Err      error
}

// Want is one task that a loop decided to start, or all tasks of a gang.
type Want struct {
	Job int64
	// Nodes are the holders of the tasks of a gang, in the order of their indices; nil for
	// other jobs.
	Nodes []string
	// Charge is what each task is charged each second until it ends; 0 is what it takes of
	// the unit.
	Charge float64
	// Else are jobs of one task each that would do as well, the best first: if the wanted job
	// cannot be had, the first of them is leased that can, and that no want asks for. Of a job
	// with several tasks that has not ended they are not looked at. The wants of a call name
	// the same list, and are the same in all but the job then, or lists that have nothing in
	// common.
	Else []int64
	// Rates are those under which the start of each task counts. The store keeps where they
	// stand and takes the tokens together with the lease.
	Rates []sched.RateLimit
	// Holds is what each task holds until its attempt is over. Only a store that is shared has
	// to look at them, see [Sharer]: all that run may not hold more of it together, whoever
	// leased them.
	Holds []sched.Held
}

// Grant is the answer to a want: a lease, which may be one of Else; or those of a gang in
// the order of their indices; or else how many tasks of the wanted job wait now.
type Grant struct {
	Lease   *Lease
	Gang    []*Lease
	Waiting []Waits
	// Refused names what kept the task from starting, such as "rate linkedin" or "license
	// matlab", if it was not looked for: it may wait still.
	Refused string
	// Rates are where the rates of the want stand after the call.
	Rates []sched.RateState
}

// Waits is a number of tasks of one job that wait until the same instant.
type Waits struct {
	Tasks int
	Begin time.Time // zero: they may start now
}

// Query selects jobs. Empty fields match everything.
type Query struct {
	IDs    []int64
	User   string
	Pool   string // this pool and those below it
	Kind   string
	States []State
	Waits  bool      // a task of the job waits; another may run
	Since  time.Time // ended not before; jobs that have not ended match
	After  int64     // ids above this
	Before int64     // ids below this, if above 0
	Newest bool      // by id descending
	Limit  int       // 0 is no limit
}

// Change is something that happened to a job and that a scheduler or a watcher has
// to know.
type Change struct {
	What   What      `json:",omitzero"`
	Job    Header    `json:",omitzero"`
	Waits  []Waits   `json:",omitempty"` // for Waited: tasks that wait in addition
	Runs   []Run     `json:",omitempty"` // attempts that run (in a snapshot), were leased, wait elsewhere or begin there, have to stop, or are over
	State  State     `json:",omitzero"`  // of the job after the change
	Reason string    `json:",omitzero"`  // in words
	At     time.Time `json:",omitzero"`
}

// What says what happened.
type What uint8

// The kinds of change.
const (
	// Waited: tasks of the job began to wait.
	Waited What = iota + 1
	// Withdrawn: no task of the job waits any more.
	Withdrawn
	// Runs: tasks of the job run under leases. Only in a snapshot.
	Runs
	// Stop: tasks of the job run and have to be stopped, as was said before or not.
	Stop
	// Lost: the attempts in Runs are over without a result; their tasks may wait again.
	Lost
	// Done: the job has ended. Runs are attempts that ended with it, if Ended does not tell
	// of them.
	Done
	// Leased: another user of the store, see [Peers], leased the tasks in Runs.
	Leased
	// Ended: attempts of others are over, otherwise than by being lost.
	Ended
	// Changed: another one changed a setting, whose key is the Reason; see [Settings].
	Changed
	// Progressed: tasks in Runs wait in another queueing system, or began there.
	Progressed
)

// Header is what a scheduler knows of a job: no payload.
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
	// Constraint is what the labels of the node have to satisfy.
	Constraint string `json:",omitzero"`
	// Reservation is the name of the one in which it runs.
	Reservation string   `json:",omitzero"`
	Licenses    Amounts  `json:",omitempty"`
	Rates       []string `json:",omitempty"`
	Handler     bool     `json:",omitzero"` // work for a Go handler of its kind, not a command
	MaxRunning  int      `json:",omitzero"`
	Tasks       int      `json:",omitzero"`
	Gang        int      `json:",omitzero"` // tasks that start all at once
	Spread      bool     `json:",omitzero"` // each of them on a node of its own
	// Submitted is when the job came.
	Submitted time.Time `json:",omitzero"`
	// Avoid are the nodes that could not begin it.
	Avoid []Avoided `json:",omitempty"`
}

// Run is a task that runs.
type Run struct {
	Ref
	Holder  string    `json:",omitzero"`
	Started time.Time `json:",omitzero"`
	Queued  bool      `json:",omitzero"` // it waits in another queueing system, since Started
	Charge  float64   `json:",omitzero"` // as in the [Want]
	// Of one that is over: when it ended, zero if it did no work, and whether its length says
	// something about others.
	Ended  time.Time `json:",omitzero"`
	Learns bool      `json:",omitzero"`
}

// Stopped is an attempt that the scheduler ended early so that others got its room.
type Stopped struct {
	Ref    Ref
	Reason why.Stop
}

// StopQuery selects stopped attempts. Empty fields match everything.
type StopQuery struct {
	Job   int64
	Since time.Time // stopped not before
	Limit int       // the latest; 0 is no limit
}

// Notifier is a store that tells when there are new changes.
type Notifier interface {
	// Notify sends to c, without blocking, after changes were committed. The function
	// that it returns ends that.
	Notify(c chan<- struct{}) (stop func())
}

// RateKeeper is a store that tells where rates stand; see [Want].
type RateKeeper interface {
	// Rates returns the rates under which something started and that are still known, by
	// name, as of now.
	Rates(ctx context.Context) ([]sched.RateState, error)
}

// Settings is a store that keeps named values for the program that uses it.
type Settings interface {
	// Settings returns all values by their keys.
	Settings(ctx context.Context) (map[string]string, error)
	// Set keeps a value; an empty one removes the key.
	Set(ctx context.Context, key, value string) error
}

// Auditor is a store that keeps a record of changes and of who made them. Nothing is
// ever changed in the record or taken from it, but for secrets.
type Auditor interface {
	// Audit adds entries to the record and keeps settings, as [Settings] does, in one
	// transaction: every change is recorded, and every recorded change was made.
	Audit(ctx context.Context, entries []AuditEntry, settings map[string]string) error
	// Audited returns the entries that match, newest first.
	Audited(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	// Redact takes secrets out of the record: of each entry, the texts Old, New and Note become what
	// hide makes of them. Settings are kept as by Audit, in the same transaction. Where the store can, it
	// overwrites the old text.
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
	Refused bool   // it was tried, and not done
	Note    string // e.g. why
}

// AuditQuery selects entries of the record. Empty fields match everything.
type AuditQuery struct {
	Before int64 // ids below this
	Since  time.Time
	Limit  int // 0 is no limit
}

// Journal is a store that keeps what happened to each job.
type Journal interface {
	// Events returns what happened to a job, oldest first.
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

	// Of events that are watched: about which job.
	User  string
	Pool  string
	State State
}
