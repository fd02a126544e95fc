package web

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// Source provides the data of pages and their changes, by subject. Methods that change something check the
// rights of the sender.
type Source struct {
	Server ServerSource
	Jobs   JobSource
	Pools  PoolSource
	Nodes  NodeSource
	Config ConfigSource

	long *longLists // shared by all pages of a dashboard
}

// ServerSource knows the sender of a request, and the state of the server.
type ServerSource interface {
	// You returns the sender, with its rights.
	You(ctx context.Context) You
	// Failed notes the error with which a request ends, for the log of the server.
	Failed(ctx context.Context, err error)
	// Version changes with everything that a page may show, except for values that change with time alone.
	Version() uint64
	// Status returns the report of the server about itself.
	Status(ctx context.Context) (*api.ServerStatus, error)
	// Health returns what does not work at present.
	Health(ctx context.Context) *api.Diagnosis
	// Doctor returns the latest findings of fairlead doctor.
	Doctor(ctx context.Context) *api.Diagnosis
}

// JobSource shows jobs and changes them.
type JobSource interface {
	// Waiting returns the number of waiting tasks.
	Waiting() int64
	// List returns a page of the jobs that match.
	List(ctx context.Context, q queue.Query, o JobOptions) (*api.JobList, error)
	// Oldest returns jobs with waiting tasks, at most "most" of them, the earliest submissions first.
	Oldest(ctx context.Context, most int) []int64
	// Next returns the jobs that start next, in that order: up to n jobs with a place after the given one,
	// and their places. They are the jobs of a pool and the pools below it, or all jobs if the pool is "".
	Next(ctx context.Context, pool string, place int64, n int) (ids, places []int64)
	// InOrder returns all jobs with a place in that order. Unlike Next it waits until the order is known.
	InOrder(ctx context.Context) []int64
	// Places returns a function that returns the place of a job in that order, or 0 if it has none in this pool.
	Places(ctx context.Context, pool string) func(id int64) int64
	// Job returns a job with its tasks, as the sender may see it.
	Job(ctx context.Context, id int64) (*api.JobResponse, error)
	// Why explains the state of a job.
	Why(ctx context.Context, id int64, o explain.WhyOptions) (*why.Answer, error)
	// History returns a job with its tasks, its last end and its events.
	History(ctx context.Context, id int64) (*api.JobResponse, *api.History, error)
	// WhatIf forecasts a waiting job as if it asked for something else.
	WhatIf(ctx context.Context, id int64, v api.Variation) (*why.WhatIf, error)
	// Log returns a part of a task's output, to users who may read it.
	Log(ctx context.Context, id int64, task int, stderr bool, offset int64, limit int) (*api.LogChunk, error)
	// Submit submits a job of the sender, or, if "check" is set, says what would happen.
	Submit(ctx context.Context, spec *api.Spec, check bool) (*api.Submitted, error)
	// Alter changes jobs, and returns the result for each.
	Alter(ctx context.Context, r api.AlterRequest) (*api.AlterResponse, error)
	// Reorder returns the change of the order of starts if jobs had another priority.
	Reorder(ctx context.Context, r api.ReorderRequest) (*api.Reorder, error)
}

// PoolSource shows pools, and changes their weights and pauses.
type PoolSource interface {
	// Shares returns the pools: the whole tree, or the tree below a pool with that pool.
	Shares(ctx context.Context, pool string) (*api.Shares, error)
	// Why explains the service of a pool, with a number of its siblings at each level.
	Why(ctx context.Context, pool string, siblings int) (*why.Answer, error)
	// Waits returns the report on waits, with the number of waits up to each step. If many tasks would have
	// to be read, the window begins later. It returns nil while the report is computed.
	Waits(ctx context.Context, a account.Ask, steps []time.Duration, most int) (*account.Waits, error)
	// Past returns the report on the usage of past jobs, with shares of pools if asked.
	Past(ctx context.Context, a account.Ask, shares bool) (*api.PastReport, error)
	// Reasons returns how long a pool and the pools below it waited for which reasons in the last hour, or since
	// the server started.
	Reasons(ctx context.Context, pool string) (since time.Time, all []explain.WaitReason)
	// Boost multiplies the weight of a pool for a time.
	Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error)
	// Boosts returns the current boosts.
	Boosts(ctx context.Context) (*api.Boosts, error)
	// Unboost ends a boost before its time.
	Unboost(ctx context.Context, id int64) (*api.BoostResponse, error)
	// Pause keeps the jobs of a pool from starting.
	Pause(ctx context.Context, r api.PauseRequest) (*api.PauseResponse, error)
	// Resume lets the jobs of a paused pool start again.
	Resume(ctx context.Context, pool string) (*api.PauseResponse, error)
	// History returns the history of a pool between two instants; a zero second instant means now.
	History(ctx context.Context, pool string, since, until time.Time) (*api.PoolHistory, error)
	// Histories returns the histories of pools since an instant, in steps of a length, in the order of the
	// names.
	Histories(ctx context.Context, pools []string, since time.Time, step time.Duration) ([]*api.PoolHistory, error)
}

// NodeSource shows nodes, licenses and rates, and drains and reserves nodes.
type NodeSource interface {
	// List returns all nodes.
	List(ctx context.Context) (*api.Nodes, error)
	// Tasks returns the running tasks of some nodes, and the tasks that ended there within the past. NumberedTasks adds
	// their numbers in the jobs, which takes longer.
	Tasks(ctx context.Context, nodes []string, past time.Duration) (*api.NodeTasks, error)
	NumberedTasks(ctx context.Context, nodes []string, past time.Duration) (*api.NodeTasks, error)
	// Limits returns the licenses and rates.
	Limits(ctx context.Context) (*api.Limits, error)
	// RunningPerUser returns the limit of the running tasks of each user; 0 is none.
	RunningPerUser() int
	// LimitSeries returns the past use of the limits, and the instants at which they become free.
	LimitSeries(past time.Duration) []history.LimitSeries
	// Stranded counts the waiting jobs that would have no node any more if a node took no tasks.
	Stranded(ctx context.Context, node string) (int, error)
	// Drain drains a node, or resumes it.
	Drain(ctx context.Context, node string, r api.DrainRequest) (*api.NodeState, error)
	// Reservations returns the reservations that are not over.
	Reservations(ctx context.Context) (*api.Reservations, error)
	// Reserve makes a reservation, or returns the tasks that would be in its way.
	Reserve(ctx context.Context, name string, r api.ReserveRequest) (*api.ReserveResponse, error)
	// Unreserve ends a reservation before its time.
	Unreserve(ctx context.Context, name string) (*api.ReserveResponse, error)
}

// ConfigSource shows the configuration and changes it.
type ConfigSource interface {
	// Status returns the current configuration.
	Status(ctx context.Context) (*api.ConfigStatus, error)
	// Versions returns the stored versions of the file, and Version one of them with its text.
	Versions(ctx context.Context) (*api.ConfigVersions, error)
	Version(ctx context.Context, number int) (*api.ConfigVersion, error)
	// History returns the record of changes, newest first.
	History(ctx context.Context, limit int) (*api.ConfigHistory, error)
	// Read parses a configuration; callers must not change it. Its errors are those of [config.Parse].
	Read(f api.ConfigFile) (*config.Config, error)
	// Diff and Plan return the changes that another configuration would make.
	Diff(ctx context.Context, f api.ConfigFile) (*api.ConfigDiff, error)
	Plan(ctx context.Context, r api.ConfigPlanRequest) (*api.ConfigPlan, error)
	// Apply applies a plan, Rollback an earlier version.
	Apply(ctx context.Context, r api.ApplyRequest) (*api.ApplyResponse, error)
	Rollback(ctx context.Context, r api.RollbackRequest) (*api.ApplyResponse, error)
}

// JobOptions select the further contents of a list of jobs.
type JobOptions struct {
	Next  bool // running jobs and jobs that would start next, not the lowest ids
	Rank  bool // places in the order of starts, and reasons
	Start bool // estimates of starts
	Ends  bool // how they ended: the task that ended last, or the last that failed
	Soon  bool // without places if these would have to be waited for
}
