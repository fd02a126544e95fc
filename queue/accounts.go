package queue

import (
	"context"
	"time"
)

// Accountant is a store that keeps the usage of pools.
type Accountant interface {
	// Usage returns the usage of each pool in slot-seconds, decayed to the instant Accounts.AsOf of the store's clock,
	// and the counters of the pool.
	Usage(ctx context.Context) (Accounts, error)
	// Balance calls f for the jobs as [Store.Snapshot] does, unless f is nil, and returns the usage of pools. Both show
	// the moment of the cursor. If an attempt is running, its end comes with the changes after the cursor. If it is in
	// the accounts, its end does not come.
	Balance(ctx context.Context, f func(Change) error) (Balance, error)
	// SetHalfLife sets the half-life of usage from now on; with 0 usage does not decay.
	SetHalfLife(ctx context.Context, halfLife time.Duration) error
	// Recount counts the waiting and running tasks of each pool from the jobs. Callers compare the result with the
	// counters of Usage.
	Recount(ctx context.Context) (map[string]Counters, error)
}

// UserCounter is a store that counts the unstarted jobs and tasks of users.
type UserCounter interface {
	// CountUsers counts, for each user who has any, the jobs with tasks that have not started or wait again, including
	// jobs that are held or depend on other jobs. It reads all jobs that have not ended.
	CountUsers(ctx context.Context) (map[string]UserCount, error)
}

// KeyReader is a store that reports which jobs have which keys.
type KeyReader interface {
	// Keyed returns, for each job, the answer that [Store.Submit] would give because of the job's key: the existing job
	// with that key, or [ErrKeyUsed]. A job without a key, or with a new one, gets the zero Submission.
	Keyed(ctx context.Context, jobs []*Job) ([]Submission, error)
}

// EndReader is a store that reports how jobs ended, for lists of jobs.
type EndReader interface {
	// Ends returns for each of the jobs the task that ended last or, if tasks failed, the task that failed last; see
	// [LastEnd]. The order is by job. Jobs without an ended task, unknown jobs, and jobs of more than [MaxEnds] tasks
	// are left out.
	Ends(ctx context.Context, jobs []int64) ([]Task, error)
}

// MaxEnds bounds the tasks of a job in [EndReader.Ends], which reads every task of a job. Ends leaves out larger jobs.
const MaxEnds = 1000

// UserCount holds how many jobs of a user have unstarted tasks, and how many such tasks there are.
type UserCount struct{ Jobs, Tasks int64 }

// Plus returns the sum of two counts.
func (c UserCount) Plus(o UserCount) UserCount {
	return UserCount{c.Jobs + o.Jobs, c.Tasks + o.Tasks}
}

// DayKeeper is an accountant that also keeps the usage of pools by day.
type DayKeeper interface {
	// KeepDays makes the store keep, from now on, the usage of each pool on each of the last n days, today included; 0
	// keeps none. Days are in UTC.
	KeepDays(ctx context.Context, n int) error
	// Days returns the stored usage by days.
	Days(ctx context.Context) ([]DayUsage, error)
}

// DayUsage is the usage of a pool on one day, from attempts that have ended.
type DayUsage struct {
	Pool string
	Day  time.Time // its midnight
	Used float64   // slot-seconds
}

// Charger is an accountant whose amounts can be set.
type Charger interface {
	// SetUsed sets the usage of pools as of now, in slot-seconds. It deletes the pools' usage by day, and counts the
	// amount for today.
	SetUsed(ctx context.Context, used map[string]float64) error
}

// Accounts is the state of all pools at one instant.
type Accounts struct {
	HalfLife time.Duration
	AsOf     time.Time
	Pools    map[string]Account
}

// Balance is the usage of pools at the moment of a cursor of [Store.Changes].
type Balance struct {
	Cursor   int64
	Accounts Accounts
	Days     []DayUsage // if the store is a [DayKeeper]
}

// Account is the usage of a pool with the counters of its tasks.
type Account struct {
	Counters
	Used  float64 // decayed, slot-seconds, of attempts that ended
	Mean  float64 // mean length of its tasks, in seconds
	Seen  float64 // weight of the mean
	Total float64 // not decayed, slot-seconds
	Ended int64   // tasks
	// Since is when the first job entered the pool; zero for pools that are older than this field.
	Since time.Time
	// Maker is the user of that first job, whether it was submitted or moved there; empty for pools that are older than
	// this field.
	Maker string
}

// Counters are the tasks of a pool.
type Counters struct{ Waiting, Running int64 }
