package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Task is a running task, as passed to the function "end" of a forecast.
type Task struct {
	Job     int64
	Pool    PoolID
	Limit   time.Duration // 0: no limit, or the end is unknown
	Started time.Time
}

// Forecast is the result of a replay of the future for a job.
type Forecast struct {
	// At is when the first waiting task of the job starts or, unless Found is set, the instant that the replay
	// reached.
	At    time.Time
	Found bool
	Nodes []string // where it starts; several nodes for a gang
	// Starts is the number of tasks that the replay started.
	Starts int
	// InTurn means that no job can pass one that waits for room: all jobs ask for the same, or start strictly in order.
	InTurn bool
	// ByArrival means that the order of the waiting jobs never changes.
	ByArrival bool
}

// Future is a copy of a scheduler whose time can run ahead. One goroutine may use it while the scheduler continues.
type Future struct {
	s    *Scheduler
	once bool
	room *Room // of the copies that answer questions, one after another
}

// AsFuture turns a copy into a future that begins now. No new jobs are submitted in it. The copy must not be used in
// any other way afterwards. The memory of another copy, which was dropped, serves to answer questions.
func (s *Scheduler) AsFuture(room *Room) *Future {
	s.tree.rebalancers = nil
	s.gates.everywhere()
	return &Future{s: s, room: room}
}

// Once returns the future for a last question, which then needs no copy.
func (u *Future) Once() *Future { return &Future{s: u.s, once: true} }

// took returns a scheduler for one question: to answer the question, time will run ahead in this scheduler.
func (u *Future) took() *Scheduler {
	if !u.once {
		return u.s.ForkIn(u.room)
	}
	s := u.s
	u.s = nil // time has passed in it: it cannot answer another question
	return s
}

// idlePasses is the largest number of consecutive instants without a start or an end in a forecast. It is needed
// because orders that follow the clock may change forever while a job cannot start at all.
const idlePasses = 1000

// Forecast replays the future, in which each task, running or still to start, ends at the instant that the function
// "end" returns. It drives the scheduler itself, until a task of the job starts or goOn returns false. goOn is called
// after each instant with an event.
func (u *Future) Forecast(job int64, goOn func(Forecast) bool, end func(Task) time.Time) Forecast {
	return u.Play(goOn, end, func(st Start, _ time.Time) bool { return st.Job != job })
}

// Play is Forecast for all jobs: it calls visit for each start, with its instant, until visit returns false. That
// start is the result.
func (u *Future) Play(goOn func(Forecast) bool, end func(Task) time.Time, visit func(Start, time.Time) bool) Forecast {
	f := &forecast{s: u.took(), end: end, visit: visit}
	for i := range f.s.running.runs {
		if r := &f.s.running.runs[i]; r.used {
			f.follow(int32(i))
		}
	}
	out := Forecast{At: f.s.site.at, InTurn: true, ByArrival: f.s.tree.byArrivalOnly()}
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

// forecast is a scheduler with its own time.
type forecast struct {
	s     *Scheduler
	d     Decision
	ends  endings
	end   func(Task) time.Time
	visit func(Start, time.Time) bool
}

// step starts all tasks that can start now, and reports whether the forecast ends here.
func (f *forecast) step(out *Forecast) bool {
	out.At, out.InTurn = f.s.site.at, out.InTurn && f.s.gates.inTurn()
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

// follow schedules the end of a running task.
func (f *forecast) follow(i int32) {
	r := &f.s.running.runs[i]
	over := f.end(Task{Job: r.job, Pool: PoolID(r.pool), Limit: f.limitOf(r), Started: f.s.site.startOf(r)})
	f.ends.push(ending{max(over.UnixNano(), f.s.site.instantOf()+1), i, r.serial})
}

// limitOf is the time limit of a running task, if it tells when the task ends. It does not if the task waits in another
// queue and has not begun. Nor does it if the task is over its limit on a node that is down, because nobody reports its
// end.
func (f *forecast) limitOf(r *run) time.Duration {
	lost := f.s.site.cluster.Nodes()[r.node].State == cluster.Down && !f.s.site.startOf(r).Add(r.limit).After(f.s.site.at)
	if r.queued || lost {
		return 0
	}
	return r.limit
}

// next advances the time to the next event, and reports whether there is one.
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

// Fork returns a copy of the scheduler at the beginning of the future, in the memory of an earlier copy. It may be
// changed before [Scheduler.AsFuture] is called on it.
func (u *Future) Fork(room *Room) *Scheduler {
	f := u.s.ForkIn(room)
	f.tree.rebalancers = nil
	return f
}

// Rest starts all tasks that can start now.
func (s *Scheduler) Rest() {
	for d := (Decision{More: true}); d.More; {
		s.Step(s.site.at, 0, &d)
	}
}

// Opening reports whether a node has room now for a task with that time limit, behind the room that the last step
// kept for others.
func (v View) Opening(key cluster.Key, limit time.Duration) bool {
	if v.s.reserve.backfill.plan == nil {
		_, fits := v.s.reserve.find(key, limit)
		return fits
	}
	_, fits := v.s.reserve.placeBehind(key, planned(limit), limit)
	return fits
}

// Window is the longest time limit, in whole seconds and below tooLong, that would let a task find room now; 0 if
// there is none.
func (v View) Window(key cluster.Key, tooLong time.Duration) time.Duration {
	if (!v.s.site.backfills() || v.s.reserve.backfill.plan == nil) && !v.s.site.cluster.Windows().Any() {
		return 0
	}
	long := int64(planned(tooLong)) / int64(time.Second)
	fits, not := int64(0), long // with the limit "fits", unless it is 0, a task has room; with "not" it has none
	for not-fits > 1 {
		if mid := (fits + not) / 2; v.Opening(key, time.Duration(mid)*time.Second) {
			fits = mid
		} else {
			not = mid
		}
	}
	return time.Duration(fits) * time.Second
}
