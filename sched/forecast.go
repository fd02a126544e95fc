package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Task is a task that runs, as a forecast asks about it.
type Task struct {
	Job     int64
	Pool    PoolID
	Limit   time.Duration // 0 is none
	Started time.Time
}

// Forecast is what a replay of the future says about a job.
type Forecast struct {
	// At is when the first waiting task of the job starts; if Found is not set, how far
	// the replay came.
	At    time.Time
	Found bool
	Nodes []string // on which; several for a gang
	// Starts is how many tasks the replay started.
	Starts int
}

// Future is a copy of a scheduler in which time can pass ahead. It may be used while the
// scheduler goes on, by one goroutine.
type Future struct {
	s    *Scheduler
	once bool
}

// Future returns the future as it begins now: nothing new is submitted in it.
func (s *Scheduler) Future() *Future {
	return s.Fork().AsFuture()
}

// AsFuture makes a copy the future: it is not to be used otherwise any more.
func (s *Scheduler) AsFuture() *Future {
	s.rebalancers = nil
	s.everywhere()
	return &Future{s: s}
}

// Once is the future for the one question that is put to it last: no copy is made for that.
func (u *Future) Once() *Future { return &Future{u.s, true} }

// took is the scheduler in which time passes to answer a question.
func (u *Future) took() *Scheduler {
	if !u.once {
		return u.s.Fork()
	}
	s := u.s
	u.s = nil // another question would find time passed
	return s
}

// idlePasses bounds how often a forecast looks at an instant at which nothing starts or
// ends: orders that follow the clock may change for ever while a job cannot start at all.
const idlePasses = 1000

// Forecast plays what will happen if each task is over when end says: of those that run,
// and of those that will start. It drives the machine that decides, until a task of the
// job starts, or goOn reports that it is to come no further: it is asked after each instant
// at which something happened.
func (u *Future) Forecast(job int64, goOn func(Forecast) bool, end func(Task) time.Time) Forecast {
	return u.Play(goOn, end, func(st Start, _ time.Time) bool { return st.Job != job })
}

// Play is Forecast for all jobs: visit is called for each start, with its instant, until it
// returns false. That start is then what the forecast found.
func (u *Future) Play(goOn func(Forecast) bool, end func(Task) time.Time, visit func(Start, time.Time) bool) Forecast {
	f := &forecast{s: u.took(), end: end, visit: visit}
	for i := range f.s.runs {
		if r := &f.s.runs[i]; r.used {
			f.follow(int32(i))
		}
	}
	out := Forecast{At: f.s.at}
	for idle := 0; !f.step(&out) && goOn(out) && f.s.anyWaits() && idle < idlePasses; idle++ {
		if len(f.ends) > 0 {
			idle = 0
		}
		if !f.next() {
			break
		}
	}
	return out
}

// anyWaits reports whether a task waits, or will.
func (s *Scheduler) anyWaits() bool { return s.pools[Root].Waiting > 0 || !s.later.next().IsZero() }

// forecast is a scheduler in a time of its own.
type forecast struct {
	s     *Scheduler
	d     Decision
	ends  endings
	end   func(Task) time.Time
	visit func(Start, time.Time) bool
}

// step starts what starts now, and reports whether that is as far as it is to come.
func (f *forecast) step(out *Forecast) bool {
	out.At = f.s.at
	for f.d.More = true; f.d.More; {
		f.s.Step(f.s.at, 0, &f.d)
		for _, st := range f.d.Starts {
			if out.Starts++; !f.visit(st, f.s.at) {
				out.Found, out.Nodes = true, f.s.nodesOf(st)
				return true
			}
			f.follow(int32(uint32(st.Run)))
		}
	}
	return false
}

// nodesOf are the nodes of a task that starts, or of all its gang.
func (s *Scheduler) nodesOf(st Start) []string {
	r := s.run(st.Run)
	if r.begun < 0 || s.begun[r.begun].gang == 0 {
		return []string{s.nodeName(st.Node)}
	}
	var nodes []cluster.NodeID
	for i := range s.runs {
		if x := &s.runs[i]; x.used && x.job == st.Job {
			nodes = append(nodes, x.node)
		}
	}
	return s.nodeNames(nodes)
}

// follow lets a task that runs end when it is to.
func (f *forecast) follow(i int32) {
	r := &f.s.runs[i]
	over := f.end(Task{Job: r.job, Pool: PoolID(r.pool), Limit: r.limit, Started: f.s.startOf(r)})
	f.ends.push(ending{max(over.UnixNano(), f.s.instantOf()+1), i, r.serial})
}

// next lets the time pass until something happens, and reports whether anything does.
func (f *forecast) next() bool {
	at := f.d.Next
	if len(f.ends) > 0 {
		at = earlier(at, time.Unix(0, f.ends[0].until))
	}
	if at.IsZero() {
		return false
	}
	f.s.advance(at)
	for len(f.ends) > 0 && f.ends[0].until <= at.UnixNano() {
		e := f.ends.pop()
		f.s.Finish(f.s.runs[e.run].id(int(e.run)), at, true)
	}
	return true
}
