package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// Job is the header of a job with tasks that wait: all that the scheduler knows.
type Job struct {
	ID         int64 // in order of submission
	Pool       PoolID
	Key        cluster.Key
	Priority   int       // index into Config.Priorities
	Tasks      int       // how many wait
	MaxRunning int       // tasks of the job at once; 0 is no limit
	Begin      time.Time // not before; zero is now
	// Limit is how long each task may run at most, and what room in the future is planned
	// by; 0 is no limit.
	Limit time.Duration
	// Alike is the same number for jobs whose tasks are expected to run for a similar time, such as
	// those of one user and kind. Without a Limit, tasks are planned to run as long as the last that
	// were alike; those of 0 as the last of their pool.
	Alike uint32
	// Submitted is when the job came; zero for one that never counts as new.
	Submitted time.Time
	Class     Class // of its factors, under a [Ranker]
	// Charge is what each of its tasks is charged each second, for [Scheduler.Adopt]: 0 is
	// what one would be that starts now.
	Charge float64

	since time.Duration // Submitted as a distance, where it is known in that form only
}

// RunID names a task from its start to its end.
type RunID uint64

// run is a task that occupies capacity.
type run struct {
	job      int64
	since    time.Duration // submission of the job, from agesFrom
	class    Class
	pool     int32   // that is charged
	begun    int32   // the job's number if it has several tasks, else -1
	price    float64 // what it is charged each second
	key      cluster.Key
	limit    time.Duration
	alike    uint32
	node     cluster.NodeID
	used     bool
	queued   bool   // has not begun: it waits in a queue of its node, see [Scheduler.Queue]
	serial   uint32 // guards against a RunID of an earlier task
	priority int8
	isNew    bool
	started  time.Time
	until    int64     // planned end, where room in the future is planned
	expected int64     // how long it was planned to run when it was planned first
	start    usage.Now // the same in the clock's units
	leaves
}

// leaves marks a run: it was told to end.
type leaves struct {
	leaving bool
	group   int32 // of stopping.together; 0 is none
}

// ask is what a task asked for, as its line.
func (r *run) ask() ask { return ask{r.key, r.class, r.limit, r.alike} }

// rate is what a task receives each second.
func (r *run) rate() float64 {
	if r.queued {
		return 0
	}
	return r.price
}

func (r *run) id(i int) RunID { return RunID(r.serial)<<32 | RunID(uint32(i)) }

// askOf is what the tasks of a job ask for.
func askOf(j *Job) ask {
	a := ask{j.Key, j.Class, j.Limit, j.Alike}
	if j.Limit > 0 {
		a.alike = 0 // planned by the limit, so that the jobs can stand in one line
	}
	return a
}
