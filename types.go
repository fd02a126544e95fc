package fairlead

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/tries"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// Types of package queue that a program with its own jobs uses.
type (
	// Job is what a user submits.
	Job = queue.Job
	// Args are the arguments of a job for the handler of its kind, stored as JSON.
	Args = queue.Args
	// Amounts maps resources to whole amounts.
	Amounts = queue.Amounts
	// Dependency is a job that must end before another one may start, and how it must end, such as queue.OnOK.
	Dependency = queue.Dependency
	// State is the stage of a job or a task in its life.
	State = queue.State
	// Task is one task of a job.
	Task = queue.Task
	// Outcome is how an attempt ended.
	Outcome = queue.Outcome
	// Lease is the time-limited right to run one task.
	Lease = queue.Lease
	// Query selects jobs.
	Query = queue.Query
	// Tx is a transaction of your program's own.
	Tx = queue.Tx
	// Store keeps jobs from submission to end.
	Store = queue.Store
)

// Shares is the set of an administrator's decisions: the entitlements of pools, and the placement of jobs. Package
// config reads it from a file.
type Shares = allocation.Config

// DefaultShares returns the shares that are current without a configuration: every user has an equal share under the
// policy fair, with a half-life of seven days.
func DefaultShares() Shares { return allocation.Default() }

// The states of a job; see [queue.State].
const (
	Held      = queue.Held
	Blocked   = queue.Blocked
	Waiting   = queue.Waiting
	Queued    = queue.Queued
	Running   = queue.Running
	Succeeded = queue.Succeeded
	Failed    = queue.Failed
	Cancelled = queue.Cancelled
)

// Errors to test with errors.Is. Package queue explains them, and has more.
var (
	ErrNotFound    = queue.ErrNotFound
	ErrInvalid     = queue.ErrInvalid
	ErrLimit       = queue.ErrLimit
	ErrKeyUsed     = queue.ErrKeyUsed
	ErrUnavailable = queue.ErrUnavailable
)

// The parts of an [App], for a program that needs only one of them.
type (
	// Client submits jobs to a store, asks about them and changes them.
	Client = engine.Client
	// Loop decides by shares which jobs run, leases them, and hands them to workers.
	Loop = engine.Loop
	// LoopOptions are the settings of a [Loop].
	LoopOptions = engine.LoopOptions
	// Handler does the jobs of one kind.
	Handler = engine.Handler
	// HandlerFunc is a function as a [Handler].
	HandlerFunc = engine.HandlerFunc
	// Middleware wraps handlers.
	Middleware = engine.Middleware
	// NodeInfo is what a node says about itself; see [Loop.Join].
	NodeInfo = engine.NodeInfo
	// WorkOptions are the settings of [Loop.Work].
	WorkOptions = engine.WorkOptions
)

// Types of the reports about a queue.
type (
	// Watch receives events.
	Watch = engine.Watch
	// WhyOptions say how detailed the explanation of a job's wait is.
	WhyOptions = explain.WhyOptions
	// PoolView is a pool with its entitlement and usage.
	PoolView = views.PoolView
)

// Causes for which the context of a handler ended; see [context.Cause].
var (
	ErrLeaseLost = engine.ErrLeaseLost
	ErrStopped   = engine.ErrStopped
	ErrTimeLimit = engine.ErrTimeLimit
)

// NewClient returns a client of a store. It settles submitted jobs by shares.
func NewClient(store Store, shares Shares) *Client { return engine.NewClient(store, shares) }

// NewLoop returns an engine over a store. It decides nothing before [Loop.Run].
func NewLoop(ctx context.Context, store Store, o LoopOptions) (*Loop, error) {
	return engine.NewLoop(ctx, store, o)
}

// Why explains the state of an engine's job, by the numbers that the next step would compare. [App.Why] does the same
// for an App.
func Why(ctx context.Context, l *Loop, job int64, o WhyOptions) (*why.Answer, error) {
	return forecast.New(l).Why(ctx, job, o)
}

// Pools returns the pools that the shares name or that have work or usage, parents before their children. [App.Shares]
// does the same for an App.
func Pools(ctx context.Context, l *Loop) []PoolView { return views.Pools(ctx, l) }

// Snooze ends an attempt of a handler that has nothing to do yet: its task runs again after a pause. This is not a
// failure and does not count toward the retries of the job.
func Snooze(pause time.Duration) error { return tries.Snooze(pause) }

// RetryAfter marks an error of a handler with the pause before the next attempt, in place of Job.Backoff. Job.Retries
// must still allow another attempt. RetryAfter(pause, nil) is nil.
func RetryAfter(pause time.Duration, err error) error { return tries.RetryAfter(pause, err) }

// Permanent marks an error of a handler as one that another attempt would not fix. The task fails, whatever Job.Retries
// says. Permanent(nil) is nil.
func Permanent(err error) error { return tries.Permanent(err) }
