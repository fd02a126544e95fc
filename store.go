package fairlead

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
	// first is returned, with Existing set. An item's error is [ErrInvalid] or, for an
	// unknown dependency, [ErrNotFound]; other items are added nevertheless.
	Submit(ctx context.Context, jobs []*Job) ([]Submission, error)

	// Lease takes one waiting task for each want, for holder, until ttl from now. A
	// want for a job none of whose tasks waits, is due and may run is lost: its Lease
	// is nil, or one of a job that the want names instead. Tasks are taken in order of their
	// index, returned ones first. Of a gang all tasks are taken, each for the holder that the
	// want names, or none.
	Lease(ctx context.Context, holder string, wants []Want, ttl time.Duration) ([]Grant, error)

	// Renew extends leases to ttl from now.
	Renew(ctx context.Context, refs []Ref, ttl time.Duration) ([]error, error)

	// Progress notes how far attempts are in another queueing system: that they wait there, or
	// when they began. That it waits is said of an attempt before anything else is; it begins
	// once. No instant counts that is before the lease, or in the future.
	Progress(ctx context.Context, all []Progress) ([]error, error)

	// Finish ends attempts. An outcome must be Succeeded, Failed or Cancelled, else the
	// verdict is [ErrInvalid]. A task that failed and has tries left waits again, after a
	// pause. The service of the attempt, from its beginning to its end, is charged to the
	// job's pool.
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
	// again, also those that had succeeded, or the job is over: as was decided for the
	// first. Tries, failures and losses are counted once for all of them.
	Expire(ctx context.Context, holder string) ([]Ref, error)

	// StopRuns marks running attempts as ended early by the scheduler and keeps what is
	// said about them. They still run: the feed tells their holders to stop them, and a
	// snapshot tells it again. When such an attempt ends as Cancelled its task waits
	// again at once, which counts as no try of its job; one that succeeds or fails by
	// itself meanwhile has done so. An item's error is [ErrStaleAttempt] if the attempt
	// is over; one that is being stopped already is left alone.
	StopRuns(ctx context.Context, stops []Stopped) ([]error, error)

	// Stops returns what is kept about attempts that were stopped, oldest first.
	Stops(ctx context.Context, q StopQuery) ([]Stopped, error)

	// Alter changes jobs: it cancels, holds, releases or requeues them, or changes
	// their priority.
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

// Alteration is a change of one job that a user asks for.
type Alteration struct {
	Job      int64
	Verb     Verb
	Priority string  // for Prioritise; empty leaves it as it is
	QOS      *string // for Prioritise; nil leaves it as it is
	Nice     *int    // for Prioritise; nil leaves it as it is
	Pool     string  // for Move
	// Limit is the time limit in the other pool, for Move; a [Client] fills it in.
	Limit time.Duration
	Cause string // in words, e.g. "by ann"
}

// Verb is what to do to a job.
type Verb string

// The verbs.
const (
	VerbCancel     Verb = "cancel"  // what waits never starts; what runs is stopped
	VerbHold       Verb = "hold"    // what waits stays; what runs goes on
	VerbRelease    Verb = "release" // undoes a hold
	VerbRequeue    Verb = "requeue" // what ran or runs waits again, from the start
	VerbPrioritise Verb = "prioritise"
	VerbMove       Verb = "move" // to another pool, while no task runs
)

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
	Runs   []Run     `json:",omitempty"` // those that run (in a snapshot), were leased, wait elsewhere or begin there, have to stop, or are over
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
	Most        int      `json:",omitzero"`
	Tasks       int      `json:",omitzero"`
	Gang        int      `json:",omitzero"` // tasks that start all at once
	Spread      bool     `json:",omitzero"` // each of them on a node of its own
	// Submitted is when the job came.
	Submitted time.Time `json:",omitzero"`
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

// Accountant is a store that keeps what pools have received.
type Accountant interface {
	// Usage returns what each pool has received, decayed as of the store's clock's
	// reference, in slot-seconds, and its counters.
	Usage(ctx context.Context) (Accounts, error)
	// SetHalfLife changes how usage decays from now on; 0 is not at all.
	SetHalfLife(ctx context.Context, halfLife time.Duration) error
	// Recount counts the waiting and running tasks of each pool from the jobs, to be
	// compared with the counters of Usage.
	Recount(ctx context.Context) (map[string]Counters, error)
}

// DayKeeper is an accountant that also keeps what pools received on each day.
type DayKeeper interface {
	// KeepDays has the store keep, from now on, what each pool receives on each of the
	// last n days, today included; 0 is none. Days are those of UTC.
	KeepDays(ctx context.Context, n int) error
	// Days returns what is kept.
	Days(ctx context.Context) ([]DayUsage, error)
}

// DayUsage is what attempts of a pool that ended received on one day.
type DayUsage struct {
	Pool string
	Day  time.Time // its midnight
	Used float64   // slot-seconds
}

// Charger is an accountant whose amounts can be set.
type Charger interface {
	// SetUsed sets what pools have received, as of now, in slot-seconds. What was kept of
	// their days is forgotten, and the amount counts for today.
	SetUsed(ctx context.Context, used map[string]float64) error
}

// Accounts is the state of all pools at one instant.
type Accounts struct {
	HalfLife time.Duration
	AsOf     time.Time
	Pools    map[string]Account
}

// Account is what a pool received and holds.
type Account struct {
	Counters
	Used  float64 // decayed, slot-seconds, of attempts that ended
	Mean  float64 // mean length of its tasks, in seconds
	Seen  float64 // weight of the mean
	Total float64 // not decayed, slot-seconds
	Ended int64   // tasks
	// Since is when the first job came into the pool; zero for pools from before this
	// was kept.
	Since time.Time
}

// Counters are the tasks of a pool.
type Counters struct{ Waiting, Running int64 }

// Settings is a store that keeps named values for the program that uses it.
type Settings interface {
	// Settings returns all values by their keys.
	Settings(ctx context.Context) (map[string]string, error)
	// Set keeps a value; an empty one removes the key.
	Set(ctx context.Context, key, value string) error
}

// Auditor is a store that keeps a record of what was changed, and by whom. Nothing is
// ever changed in the record or taken from it.
type Auditor interface {
	// Audit adds entries to the record and keeps settings, as [Settings] does, in one
	// transaction: what is changed is recorded, and what is recorded was changed.
	Audit(ctx context.Context, entries []AuditEntry, settings map[string]string) error
	// Audited returns the entries that match, newest first.
	Audited(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
}

// AuditEntry is one change in the record.
type AuditEntry struct {
	ID      int64     // grows; set by the store
	At      time.Time // zero: now
	Who     string    // a user
	From    string    // by which way, e.g. socket, or the name of a file
	What    string    // set, unset, reload, boost, ...
	Subject string    // what was changed, e.g. pools.physics.weight
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
