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
	pools    []sched.PoolID // by Workload.Pools; made when the first job comes, as live
	keys     []cluster.Key  // by job
	schedule Schedule
	account  *account // nil: bare

	now    int64 // second
	next   int   // job to be submitted
	ended  int
	wake   int64 // second at which time alone could change the answer; 0: none
	waits  int   // jobs that wait
	alone  int   // times since the last start that nothing but time was left
	ends   ends
	runs   []sched.RunID // by job, of the run that counts; of a gang that of its first task
	gangs  gangs
	d      sched.Decision
	origin time.Time // of second 0
}

// at is the instant of a second.
func (e *engine) at(second int64) time.Time {
	return e.origin.Add(time.Duration(second) * time.Second)
}

// longest bounds a simulation in seconds: beyond it nanoseconds overflow.
const longest = math.MaxInt64 / int64(time.Second)

// Options say how a workload is run.
type Options struct {
	Config sched.Config // Config.Backfill says which jobs may pass a job that does not fit
	Seed   uint64
	// Priority is the index of the priority that all jobs have.
	Priority int
	// Bare leaves out the account of fairness and the series, which cost more than the
	// schedule itself.
	Bare bool
	// Windows are seconds for which the machine is in maintenance.
	Windows []Window
	// Progress, if set, is told now and then how many jobs have ended or never will. Its
	// error ends the simulation.
	Progress func(jobs int) error
}
