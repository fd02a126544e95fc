package queue

import (
	"context"
	"time"
)

// Accountant is a store that keeps what pools have received.
type Accountant interface {
	// Usage returns what each pool has received, decayed as of the store's clock's
	// reference, in slot-seconds, and its counters.
	Usage(ctx context.Context) (Accounts, error)
	// Balance tells f of the jobs as [Store.Snapshot] does, unless f is nil, and returns what
	// pools have received. Both are as of one moment, that of the cursor: an attempt runs
	// according to the jobs, or is in the accounts, and its end comes with the changes after
	// the cursor or not at all.
	Balance(ctx context.Context, f func(Change) error) (Balance, error)
	// SetHalfLife changes how usage decays from now on; 0 is not at all.
	SetHalfLife(ctx context.Context, halfLife time.Duration) error
	// Recount counts the waiting and running tasks of each pool from the jobs, to be
	// compared with the counters of Usage.
	Recount(ctx context.Context) (map[string]Counters, error)
}

// UserCounter is a store that counts what users have.
type UserCounter interface {
	// CountUsers returns the counts of jobs with tasks that have not started, or wait again, for each
	// user who has some: jobs that wait, are held, or wait for other jobs. It looks
	// at all jobs that have not ended.
	CountUsers(ctx context.Context) (map[string]UserCount, error)
}

// KeyReader is a store that says for which jobs keys stand.
type KeyReader interface {
	// Keyed says, for each job, what [Store.Submit] would say of it because of its key: that the key stands for
	// another one, or [ErrKeyUsed]. For one that has no key, or a new one, it is the zero Submission.
	Keyed(ctx context.Context, jobs []*Job) ([]Submission, error)
}

// UserCount is how many jobs of a user have tasks that have not started, and how many tasks that are.
type UserCount struct{ Jobs, Tasks int64 }

// Plus is the sum of two counts.
func (c UserCount) Plus(o UserCount) UserCount {
	return UserCount{c.Jobs + o.Jobs, c.Tasks + o.Tasks}
}

// DayKeeper is an accountant that also keeps what pools received on each day.
type DayKeeper interface {
	// KeepDays has the store keep, from now on, what each pool receives on each of the
	// last n days, today included; 0 is none. Days are those of UTC.
	KeepDays(ctx context.Context, n int) error
	// Days returns the stored usage by days.
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

// Balance is what pools have received, as of the moment of a cursor of [Store.Changes].
type Balance struct {
	Cursor   int64
	Accounts Accounts
	Days     []DayUsage // if the store is a [DayKeeper]
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
	// Maker is the user of that job, or of the one that was moved there first; empty for pools
	// from before this was kept.
	Maker string
}

// Counters are the tasks of a pool.
type Counters struct{ Waiting, Running int64 }
