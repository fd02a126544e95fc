package sim

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

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
		r.judge(e.account)
		r.Series = e.account.series()
	}
	return r, nil
}

func newEngine(w *Workload, o Options) (*engine, error) {
	e := &engine{w: w, o: o, origin: w.Zero, runs: make([]sched.RunID, len(w.Jobs)),
		keys: make([]cluster.Key, len(w.Jobs))}
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
	e.setKeys(unit)
	if !o.Bare {
		e.account, err = newAccount(w, o.Config, e.origin)
	}
	return e, err
}

// setKeys sets the scheduling keys of all jobs. A limit on the running tasks of users makes them part of the keys.
func (e *engine) setKeys(unit string) {
	type request struct{ procs, user int32 }
	known := map[request]cluster.Key{}
	for i := range e.w.Jobs {
		j, user := &e.w.Jobs[i], ""
		r := request{procs: j.Procs}
		if e.o.Config.UserRunning > 0 {
			r.user, user = j.User, e.w.Users[j.User]
		}
		key, found := known[r]
		if !found {
			key = e.keyFor(unit, int64(j.Procs), user)
			known[r] = key
		}
		e.keys[i], e.schedule.Start[i] = key, Never
	}
}

// closeWindows gives the core the time spans in which the machine is in maintenance.
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

// loop goes from one second with an event to the next, until no event is left.
func (e *engine) loop() error {
	told := -1
	for e.advance() {
		if e.now > longest {
			return fmt.Errorf("%s: the simulation reached second %d, which is beyond its limit: simulate a part of the trace with --from and --to", e.w.Name, e.now)
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

// maxAlone bounds the consecutive steps at which only time passes, and no job runs, arrives or starts. A job that
// still waits after these steps will never start.
const maxAlone = 1000

// advance moves to the next second with an event. If no job waits, the passing of time alone starts nothing.
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
		if e.alone < maxAlone {
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
			continue // the run was stopped before
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

// adopt starts a job that already runs, regardless of the order of the queue. It returns false if there is no
// room, or if the job would need several nodes.
func (e *engine) adopt(i int) bool {
	if e.tasks(i) > 1 {
		return false
	}
	node, fits := e.core.Cluster().Place(e.keys[i])
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

// job returns a job as the core knows it. Its index in the workload gives its number, because the queue is in
// that order.
func (e *engine) job(i int) sched.Job {
	j := &e.w.Jobs[i]
	if e.pools[j.Pool] == sched.Root {
		e.pools[j.Pool] = e.core.Pool(e.w.Pools[j.Pool])
	}
	limit := time.Duration(max(1, j.Estimate)) * time.Second
	if j.NoLimit {
		limit = 0 // the core predicts the run time, as in a cluster
	}
	return sched.Job{
		ID: int64(i + 1), Pool: e.pools[j.Pool], Key: e.keys[i], Priority: e.o.Priority, Tasks: e.tasks(i),
		Submitted: e.at(j.Submit), Limit: limit, Alike: uint32(j.User) + 1,
	}
}

// add adds a waiting job to the core.
func (e *engine) add(i int) {
	e.core.Add(e.job(i), e.at(e.now))
	e.waits++
	if e.account != nil {
		e.account.submit(i)
	}
}

// step starts all jobs that the core starts now.
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
			return fmt.Errorf("%s: on average every job was stopped a thousand times: the rules of reclaim or rebalance stop jobs without end", e.w.Name)
		}
	}
	e.wake = 0
	if !e.d.Next.IsZero() {
		e.wake = max(e.now+1, int64((e.d.Next.Sub(e.origin)+time.Second-1)/time.Second))
	}
	return nil
}

// begin records that a job runs from now on.
func (e *engine) begin(i int32, run sched.RunID) {
	j := &e.w.Jobs[i]
	if e.gangs.add(i, run, e.tasks(int(i))) {
		return // this is not the first task
	}
	e.schedule.Start[i], e.runs[i] = e.now, run
	e.waits--
	e.alone = 0
	e.ends.push(end{e.now + j.Run, i, run})
	if e.account != nil {
		e.account.start(int(i))
	}
}

// stop ends a run at once to make room; the job waits again and starts from its beginning.
func (e *engine) stop(st *sched.Stop) {
	i := int32(st.Job - 1)
	if e.runs[i] != st.Run {
		return // this is not the first task of a gang, but stops with the first
	}
	e.finish(i, st.Run, e.at(e.now), false)
	e.schedule.Lost = append(e.schedule.Lost, Segment{i, e.schedule.Start[i], e.now})
	e.schedule.Start[i], e.runs[i] = Never, 0
	if e.account != nil {
		e.account.end(int(i))
	}
	e.add(int(i))
}
