package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Task is a task that runs, as a forecast asks about it.
type Task struct {
	Job     int64
	Pool    PoolID
	Limit   time.Duration // 0: none, or nobody knows when the task ends
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
	s.tree.rebalancers = nil
	s.gates.everywhere()
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

// Forecast plays what will happen if each task, running or still to start, is over when end
// says. It drives the machine that decides, until a task of the
// job starts, or goOn reports that it is to come no further: it is asked after each instant
// at which something happened.
func (u *Future) Forecast(job int64, goOn func(Forecast) bool, end func(Task) time.Time) Forecast {
	return u.Play(goOn, end, func(st Start, _ time.Time) bool { return st.Job != job })
}

// Play is Forecast for all jobs: visit is called for each start, with its instant, until it
// returns false. That start is then what the forecast found.
func (u *Future) Play(goOn func(Forecast) bool, end func(Task) time.Time, visit func(Start, time.Time) bool) Forecast {
	f := &forecast{s: u.took(), end: end, visit: visit}
	for i := range f.s.running.runs {
		if r := &f.s.running.runs[i]; r.used {
			f.follow(int32(i))
		}
	}
	out := Forecast{At: f.s.site.at}
	for idle := 0; !f.step(&out) && goOn(out) && f.s.intake.anyWaits() && idle < idlePasses; idle++ {
		if len(f.ends) > 0 {
			idle = 0
		}
		if !f.next() {
			break
		}
	}
	return out
}

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
	out.At = f.s.site.at
	for f.d.More = true; f.d.More; {
		f.s.Step(f.s.site.at, 0, &f.d)
		for _, st := range f.d.Starts {
			if out.Starts++; !f.visit(st, f.s.site.at) {
				out.Found, out.Nodes = true, f.s.running.nodesOf(st)
				return true
			}
			f.follow(int32(uint32(st.Run)))
		}
	}
	return false
}

// follow lets a task that runs end when it is to.
func (f *forecast) follow(i int32) {
	r := &f.s.running.runs[i]
	over := f.end(Task{Job: r.job, Pool: PoolID(r.pool), Limit: f.limitOf(r), Started: f.s.site.startOf(r)})
	f.ends.push(ending{max(over.UnixNano(), f.s.site.instantOf()+1), i, r.serial})
}

// limitOf is the limit of a task that runs, if one knows when it ends by that. A task that waits in another queue
// has not begun, and nobody hears of the end of one that is over its limit on a node that is down.
func (f *forecast) limitOf(r *run) time.Duration {
	lost := f.s.site.cluster.Nodes()[r.node].State == cluster.Down && !f.s.site.startOf(r).Add(r.limit).After(f.s.site.at)
	if r.queued || lost {
		return 0
	}
	return r.limit
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
	f.s.Advance(at)
	for len(f.ends) > 0 && f.ends[0].until <= at.UnixNano() {
		e := f.ends.pop()
		f.s.Finish(f.s.running.runs[e.run].id(int(e.run)), at, true)
	}
	return true
}

// Fork returns a copy of the scheduler as the future begins, to be changed before
// [Scheduler.Future] is asked of it.
func (u *Future) Fork() *Scheduler {
	f := u.s.Fork()
	f.tree.rebalancers = nil
	return f
}

// Rest starts what starts now, all of it.
func (s *Scheduler) Rest() {
	for d := (Decision{More: true}); d.More; {
		s.Step(s.site.at, 0, &d)
	}
}

// Opening reports whether a node has room for a task now that keeps its time limit, behind
// the room that the last step kept for others.
func (v View) Opening(key cluster.Key, limit time.Duration) bool {
	if v.s.reserve.backfill.plan == nil {
		_, fits := v.s.reserve.find(key, limit)
		return fits
	}
	_, fits := v.s.reserve.placeBehind(key, planned(limit))
	return fits
}

// Window is the longest time limit in whole seconds, shorter than one that is too long, with
// which a task would find room now; 0 if there is none.
func (v View) Window(key cluster.Key, tooLong time.Duration) time.Duration {
	if (!v.s.site.backfills() || v.s.reserve.backfill.plan == nil) && !v.s.site.cluster.Windows().Any() {
		return 0
	}
	long := int64(planned(tooLong)) / int64(time.Second)
	fits, not := int64(0), long // with fits there is room, if it is above 0; with not there is none
	for not-fits > 1 {
		if mid := (fits + not) / 2; v.Opening(key, time.Duration(mid)*time.Second) {
			fits = mid
		} else {
			not = mid
		}
	}
	return time.Duration(fits) * time.Second
}
