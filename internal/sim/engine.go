package sim

import (
	"math"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// engine drives the scheduler from event to event.
type engine struct {
	w        *Workload
	o        Options
	core     *sched.Scheduler
	pools    []sched.PoolID // by Workload.Pools; created when the first job arrives, as in a live cluster
	keys     []cluster.Key  // by job
	schedule Schedule
	account  *account // nil: bare

	now    int64 // second
	next   int   // job to be submitted
	ended  int
	wake   int64 // second at which the passing of time could change the decision; 0: none
	waits  int   // waiting jobs
	alone  int   // steps since the last start at which only time had passed
	ends   ends
	runs   []sched.RunID // by job, the run that counts; for a gang, the run of its first task
	gangs  gangs
	d      sched.Decision
	origin time.Time // of second 0
}

// at returns the instant of a second.
func (e *engine) at(second int64) time.Time {
	return e.origin.Add(time.Duration(second) * time.Second)
}

// longest bounds a simulation in seconds, because beyond it nanoseconds overflow.
const longest = math.MaxInt64 / int64(time.Second)

// Options say how a workload is run.
type Options struct {
	Config sched.Config // Config.Backfill is the method of backfilling
	Seed   uint64
	// Priority is the index of the priority that all jobs have.
	Priority int
	// Bare omits the account of fairness and the series, which cost more than the schedule itself.
	Bare bool
	// Windows holds the time spans in which the machine is in maintenance.
	Windows []Window
	// Progress, if set, is called from time to time with the number of jobs that have ended. Its error ends
	// the simulation.
	Progress func(jobs int) error
}
