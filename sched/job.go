package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// Job is the header of a job with waiting tasks: all that the scheduler knows of it.
type Job struct {
	ID         int64 // in order of submission
	Pool       PoolID
	Key        cluster.Key
	Priority   int       // index into Config.Priorities
	Tasks      int       // number of waiting tasks
	MaxRunning int       // tasks of the job at the same time; 0 is no limit
	Begin      time.Time // earliest start; zero is now
	// Limit is the longest run time of each task, which also plans future room; 0 is no limit.
	Limit time.Duration
	// Alike is equal for jobs whose tasks probably run equally long, such as the jobs of one user and kind. Without
	// a Limit, a task is planned to run as long as the last such tasks; with Alike 0, as long as the last tasks of
	// its pool.
	Alike uint32
	// Submitted is the submission time; zero for a job that never counts as new.
	Submitted time.Time
	Class     Class // of its factors, under a [Ranker]
	// Charge is the charge of each task per second, for [Scheduler.Adopt]; 0 is the present charge.
	Charge float64

	since time.Duration // Submitted as a distance, if only that is known
}

// RunID names a task from its start to its end.
type RunID uint64

// run is a task that occupies resources.
type run struct {
	job      int64
	since    time.Duration // submission of the job, from agesFrom
	class    Class
	pool     int32   // the pool that is charged
	begun    int32   // the job's number if it has several tasks, else -1
	price    float64 // its charge per second
	key      cluster.Key
	limit    time.Duration
	alike    uint32
	node     cluster.NodeID
	used     bool
	queued   bool   // not begun: it waits in a queue of its node, see [Scheduler.Queue]
	serial   uint32 // guards against a RunID of an earlier task
	priority int8
	isNew    bool
	started  time.Time
	until    int64     // planned end, if future room is planned
	expected int64     // its first planned run time
	beside   int64     // without a time limit: begin of the hold during which it started, see patience.since; or 0
	start    usage.Now // the same in the clock's units
	leaves
}

// leaves marks a run that was told to end.
type leaves struct {
	leaving bool
	late    bool  // without a time limit, and has outlived its prediction
	group   int32 // of stopping.together; 0 is none
}

// ask is the request of the task, as in its sub-queue.
func (r *run) ask() ask { return ask{r.key, r.class, r.limit, r.alike, r.priority} }

// rate is the service of a task per second.
func (r *run) rate() float64 {
	if r.queued {
		return 0
	}
	return r.price
}

func (r *run) id(i int) RunID { return RunID(r.serial)<<32 | RunID(uint32(i)) }

// askOf is the request of the tasks of a job.
func askOf(j *Job) ask {
	a := ask{j.Key, j.Class, j.Limit, j.Alike, int8(j.Priority)}
	if j.Limit > 0 {
		a.alike = 0 // the limit plans it, so such jobs can share a sub-queue
	}
	return a
}
