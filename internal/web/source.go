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

// Source is what pages show and change, by what it is about. What changes something checks who asks.
type Source struct {
	Server ServerSource
	Jobs   JobSource
	Pools  PoolSource
	Nodes  NodeSource
	Config ConfigSource
}

// ServerSource knows who asks, and how the server is.
type ServerSource interface {
	// You is who asks, and what they may do.
	You(ctx context.Context) You
	// Version changes with everything that a page may show, but for what time alone changes.
	Version() uint64
	// Status is what the server says about itself.
	Status(ctx context.Context) (*api.ServerStatus, error)
	// Doctor is what fairlead doctor found lately.
	Doctor(ctx context.Context) *api.Diagnosis
}

// JobSource shows jobs and changes them.
type JobSource interface {
	// Waiting is how many tasks wait.
	Waiting() int64
	// List is a page of the jobs that match.
	List(ctx context.Context, q queue.Query, o JobOptions) (*api.JobList, error)
	// Oldest returns up to most jobs with waiting tasks, the earliest submissions first.
	Oldest(ctx context.Context, most int) []int64
	// Next are the jobs that start next, in that order: up to n of them whose place is behind
	// the given one, and the place of each.
	Next(ctx context.Context, place int64, n int) (ids, places []int64)
	// InOrder returns all jobs with a place in that order. Unlike Next it waits until the order is known.
	InOrder(ctx context.Context) []int64
	// Placed returns what reports whether a job has a place in that order.
	Placed(ctx context.Context) func(id int64) bool
	// Job is a job with its tasks, as the one who asks may see it.
	Job(ctx context.Context, id int64) (*api.JobResponse, error)
	// Why says why a job is where it is.
	Why(ctx context.Context, id int64, o explain.WhyOptions) (*why.Answer, error)
	// History is a job with its tasks and what happened to it.
	History(ctx context.Context, id int64) (*api.JobResponse, *api.History, error)
	// WhatIf says what would become of a job that waits if it asked for something else.
	WhatIf(ctx context.Context, id int64, v api.Variation) (*why.WhatIf, error)
	// Log is a part of a task's output, for whoever may read it.
	Log(ctx context.Context, id int64, task int, stderr bool, offset int64, limit int) (*api.LogChunk, error)
	// Alter changes jobs, and says what became of each.
	Alter(ctx context.Context, r api.AlterRequest) (*api.AlterResponse, error)
	// Reorder says how the order of starts would change if jobs had another priority.
	Reorder(ctx context.Context, r api.ReorderRequest) (*api.Reorder, error)
}

// PoolSource shows pools, and changes what they get.
type PoolSource interface {
	// Shares are the pools: of the whole tree, or from one on down.
	Shares(ctx context.Context, pool string) (*api.Shares, error)
	// Why explains the service of a pool, with a number of its siblings at each level.
	Why(ctx context.Context, pool string, siblings int) (*why.Answer, error)
	// Waits returns the report on waits, with the number of waits up to each step. If
	// many tasks would have to be read the window begins later. It is nil while it is worked out.
	Waits(ctx context.Context, a account.Ask, steps []time.Duration, most int) (*account.Waits, error)
	// Boost gives a pool more weight for a time.
	Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error)
	// Boosts are those in force.
	Boosts(ctx context.Context) (*api.Boosts, error)
	// Unboost ends a boost before its time.
	Unboost(ctx context.Context, id int64) (*api.BoostResponse, error)
	// Pause keeps the jobs of a pool from starting.
	Pause(ctx context.Context, r api.PauseRequest) (*api.PauseResponse, error)
	// Resume lets it start again.
	Resume(ctx context.Context, pool string) (*api.PauseResponse, error)
	// History is how a pool fared since an instant until another, zero for now.
	History(ctx context.Context, pool string, since, until time.Time) (*api.PoolHistory, error)
	// Histories are how pools fared since an instant, in steps of a length, in the order of
	// their names.
	Histories(ctx context.Context, pools []string, since time.Time, step time.Duration) ([]*api.PoolHistory, error)
}

// NodeSource shows nodes, licences and rates, and keeps nodes from taking tasks.
type NodeSource interface {
	// List are all nodes.
	List(ctx context.Context) (*api.Nodes, error)
	// Tasks returns the running tasks of some of them, and tasks that ended there within the past.
	Tasks(ctx context.Context, nodes []string, past time.Duration) (*api.NodeTasks, error)
	// Limits are the licences and rates.
	Limits(ctx context.Context) (*api.Limits, error)
	// LimitSeries holds how much of them was used over time, and when they are free again.
	LimitSeries(past time.Duration) []history.LimitSeries
	// Drain lets a node take nothing new, or take tasks again.
	Drain(ctx context.Context, node string, r api.DrainRequest) (*api.NodeState, error)
	// Reservations returns the reservations that are not over.
	Reservations(ctx context.Context) (*api.Reservations, error)
	// Reserve makes a reservation, or says what would be in its way.
	Reserve(ctx context.Context, name string, r api.ReserveRequest) (*api.ReserveResponse, error)
	// Unreserve ends a reservation before its time.
	Unreserve(ctx context.Context, name string) (*api.ReserveResponse, error)
}

// ConfigSource shows the configuration and changes it.
type ConfigSource interface {
	// Status is the configuration in force.
	Status(ctx context.Context) (*api.ConfigStatus, error)
	// Versions are the versions of the file that are kept, and Version is one with
	// its text.
	Versions(ctx context.Context) (*api.ConfigVersions, error)
	Version(ctx context.Context, number int) (*api.ConfigVersion, error)
	// History is the record of changes, newest first.
	History(ctx context.Context, limit int) (*api.ConfigHistory, error)
	// Read reads a configuration, which is not to be changed. Its errors are those of
	// [config.Parse].
	Read(f api.ConfigFile) (*config.Config, error)
	// Diff and Plan tell what another configuration would change.
	Diff(ctx context.Context, f api.ConfigFile) (*api.ConfigDiff, error)
	Plan(ctx context.Context, r api.ConfigPlanRequest) (*api.ConfigPlan, error)
	// Apply puts a plan into force, Rollback an earlier version.
	Apply(ctx context.Context, r api.ApplyRequest) (*api.ApplyResponse, error)
	Rollback(ctx context.Context, r api.RollbackRequest) (*api.ApplyResponse, error)
}

// JobOptions say what a list of jobs tells besides.
type JobOptions struct {
	Next  bool // running jobs and jobs that would start next, not the lowest ids
	Rank  bool // places in the order of starts, and reasons
	Start bool // by when they start
	Soon  bool // without places where these would have to be waited for
}
