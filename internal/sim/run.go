package sim

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// Options say how a workload is run.
type Options struct {
	Config sched.Config // Config.Placement is how jobs are fitted to the machine
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

// Window is a time from one second up to another.
type Window struct{ From, To int64 }

// never is the start of a job that never started.
const never = math.MinInt64

// Schedule says when the jobs of a workload ran.
type Schedule struct {
	Start []int64 // by job; see Started
	// Lost are the runs that ended early to make room for others. Their jobs waited again.
	Lost []Segment
}

// Segment is a run of a job that did not end by itself.
type Segment struct {
	Job        int32
	Start, End int64
}

// Started reports whether a job of the workload ran to its end.
func (s *Schedule) Started(job int) bool { return s.Start[job] != never }

// Result is what came of a workload.
type Result struct {
	Workload *Workload
	Schedule Schedule
	Metrics  Metrics
	Series   Series
}

// Run runs a workload to its end.
func Run(w *Workload, o Options) (*Result, error) {
	e, err := newEngine(w, o)
	if err != nil {
		return nil, err
	}
	if err := e.loop(); err != nil {
		return nil, err
	}
	r := &Result{Workload: w, Schedule: e.schedule}
	r.measure()
	if e.account != nil {
		e.account.close(e.now)
		r.addFairness(e.account)
		r.Series = e.account.series()
	}
	return r, nil
}

// engine drives the scheduler from event to event.
type engine struct {
	w        *Workload
	o        Options
	core     *sched.Scheduler
	pools    []sched.PoolID  // by Workload.Pools; made when the first job comes, as live
	shapes   []cluster.Shape // by job
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

func newEngine(w *Workload, o Options) (*engine, error) {
	e := &engine{w: w, o: o, origin: w.Zero, runs: make([]sched.RunID, len(w.Jobs)), shapes: make([]cluster.Shape, len(w.Jobs))}
	if len(w.Jobs) == 0 {
		return nil, fmt.Errorf("%s: no job is left to simulate", w.Name)
	}
	e.now = w.Jobs[0].Submit
	e.schedule.Start = make([]int64, len(w.Jobs))
	core, err := sched.New(o.Config, e.at(e.now), o.Seed)
	if err != nil {
		return nil, err
	}
	e.core = core
	unit := cmp.Or(o.Config.Unit, "cpu")
	if err := e.join(unit); err != nil {
		return nil, err
	}
	e.closeWindows()
	e.pools = make([]sched.PoolID, len(w.Pools))
	widths := map[int32]cluster.Shape{}
	for i := range w.Jobs {
		procs := w.Jobs[i].Procs
		shape, known := widths[procs]
		if !known {
			shape = e.shape(unit, int64(procs))
			widths[procs] = shape
		}
		e.shapes[i], e.schedule.Start[i] = shape, never
	}
	if !o.Bare {
		e.account, err = newAccount(w, o.Config, e.origin)
	}
	return e, err
}

// closeWindows tells the core when the machine is in maintenance.
func (e *engine) closeWindows() {
	var all []cluster.Window
	var nodes []string
	for _, n := range e.core.Cluster().Nodes() {
		nodes = append(nodes, n.Name)
	}
	for i, w := range e.o.Windows {
		all = append(all, cluster.Window{
			Name: fmt.Sprint("window ", i), Nodes: nodes, From: e.at(w.From).UnixNano(), To: e.at(w.To).UnixNano(), Closed: true,
		})
	}
	if len(all) > 0 {
		e.core.SetWindows(all, e.at(e.now))
	}
}

// at is the instant of a second.
func (e *engine) at(second int64) time.Time {
	return e.origin.Add(time.Duration(second) * time.Second)
}

// longest bounds a simulation in seconds: the nanoseconds of what is beyond overflow.
const longest = math.MaxInt64 / int64(time.Second)

// loop goes from second to second in which something happens, until nothing is left that
// could happen.
func (e *engine) loop() error {
	told := -1
	for e.advance() {
		if e.now > longest {
			return fmt.Errorf("%s: the simulation came to second %d, beyond the largest that it can count: simulate a part with --from and --to", e.w.Name, e.now)
		}
		e.endAll()
		e.submitAll()
		if err := e.step(); err != nil {
			return err
		}
		if e.account != nil {
			e.account.settle(e.now)
		}
		if e.o.Progress != nil && e.ended>>10 != told {
			told = e.ended >> 10
			if err := e.o.Progress(e.ended); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostAlone is how often time alone is let go on when nothing runs, nothing comes and
// nothing starts: what still waits then will never start.
const mostAlone = 1000

// advance goes on to the next second in which something happens. Time alone can start
// nothing when nothing waits.
func (e *engine) advance() bool {
	next := int64(math.MaxInt64)
	if e.next < len(e.w.Jobs) {
		next = e.w.Jobs[e.next].Submit
	}
	if len(e.ends) > 0 {
		next = min(next, e.ends[0].at)
	}
	if e.wake != 0 && e.waits > 0 && e.wake < next {
		if next == math.MaxInt64 {
			e.alone++
		}
		if e.alone < mostAlone {
			next = e.wake
		}
	}
	if next == math.MaxInt64 {
		return false
	}
	e.now = next
	return true
}

func (e *engine) endAll() {
	t := e.at(e.now)
	for len(e.ends) > 0 && e.ends[0].at == e.now {
		x := e.ends.pop()
		if e.runs[x.job] != x.run {
			continue // that run was stopped
		}
		e.finish(x.job, x.run, t, true)
		e.ended++
		if e.account != nil {
			e.account.end(int(x.job))
		}
	}
}

func (e *engine) submitAll() {
	for e.next < len(e.w.Jobs) && e.w.Jobs[e.next].Submit == e.now {
		if j := &e.w.Jobs[e.next]; !j.Running || !e.adopt(e.next) {
			e.add(e.next)
		}
		e.next++
	}
}

// adopt lets a job run that runs already, whoever would go first; false if there is no room, or if
// it would need several nodes.
func (e *engine) adopt(i int) bool {
	if e.tasks(i) > 1 {
		return false
	}
	node, fits := e.core.Cluster().Place(e.shapes[i])
	if !fits {
		return false
	}
	run := e.core.Adopt(e.job(i), node, e.at(e.now), e.at(e.now))
	if e.account != nil {
		e.account.submit(i)
	}
	e.waits++
	e.begin(int32(i), run)
	return true
}

// job is what the core knows of a job: it has its place in the workload for a number, since
// that is the order of the queue.
func (e *engine) job(i int) sched.Job {
	j := &e.w.Jobs[i]
	if e.pools[j.Pool] == sched.Root {
		e.pools[j.Pool] = e.core.Pool(e.w.Pools[j.Pool])
	}
	return sched.Job{
		ID: int64(i + 1), Pool: e.pools[j.Pool], Shape: e.shapes[i], Priority: e.o.Priority, Tasks: e.tasks(i),
		Submitted: e.at(j.Submit), Limit: time.Duration(max(1, j.Estimate)) * time.Second,
	}
}

// add says that a job waits.
func (e *engine) add(i int) {
	e.core.Add(e.job(i), e.at(e.now))
	e.waits++
	if e.account != nil {
		e.account.submit(i)
	}
}

// step starts what starts now.
func (e *engine) step() error {
	t := e.at(e.now)
	for more := true; more; {
		e.core.Step(t, 0, &e.d)
		for i := range e.d.Starts {
			e.begin(int32(e.d.Starts[i].Job-1), e.d.Starts[i].Run)
		}
		for i := range e.d.Stops {
			e.stop(&e.d.Stops[i])
		}
		more = e.d.More || len(e.d.Stops) > 0
		if len(e.d.Stops) > 0 && len(e.schedule.Lost) > 1000*len(e.w.Jobs) {
			return fmt.Errorf("%s: on average every job was stopped a thousand times: the rules of reclaim or rebalance find no rest", e.w.Name)
		}
	}
	e.wake = 0
	if !e.d.Next.IsZero() {
		e.wake = max(e.now+1, int64((e.d.Next.Sub(e.origin)+time.Second-1)/time.Second))
	}
	return nil
}

// begin counts a job from now on as running.
func (e *engine) begin(i int32, run sched.RunID) {
	j := &e.w.Jobs[i]
	if e.gangs.add(i, run, e.tasks(int(i))) {
		return // a further task
	}
	e.schedule.Start[i], e.runs[i] = e.now, run
	e.waits--
	e.alone = 0
	e.ends.push(end{e.now + j.Run, i, run})
	if e.account != nil {
		e.account.start(int(i))
	}
}

// stop ends a run at once, in favour of others; the job waits again and begins anew.
func (e *engine) stop(st *sched.Stop) {
	i := int32(st.Job - 1)
	if e.runs[i] != st.Run {
		return // a further task of a gang, which is stopped with the first
	}
	e.finish(i, st.Run, e.at(e.now), false)
	e.schedule.Lost = append(e.schedule.Lost, Segment{i, e.schedule.Start[i], e.now})
	e.schedule.Start[i], e.runs[i] = never, 0
	if e.account != nil {
		e.account.end(int(i))
	}
	e.add(int(i))
}
