package sched

import (
	"fmt"
	"iter"
	"math"
)

// recounter is one recount.
type recounter struct {
	s     *Scheduler
	pools []tally
	begun []int32 // running tasks of begun jobs
	found []Difference
}

// same compares amounts; they may differ by the rounding of sums with terms as large as scale.
func (a *recounter) same(pool int32, what string, kept, counted, scale float64) {
	if math.Abs(kept-counted) > 1e-6*(1+math.Abs(scale)) || math.IsNaN(kept) {
		a.differ(pool, what, kept, counted)
	}
}

// equal compares whole numbers.
func (a *recounter) equal(pool int32, what string, kept, counted int64) {
	if kept != counted {
		a.differ(pool, what, float64(kept), float64(counted))
	}
}

func (a *recounter) differ(pool int32, what string, kept, counted float64) {
	a.found = append(a.found, Difference{a.s.tree.Path(PoolID(pool)), what, kept, counted})
}

// countRuns counts the running tasks of each pool, without the pools below it.
func (a *recounter) countRuns() {
	s := a.s
	a.begun = make([]int32, len(s.queues.begun))
	for i := range s.running.runs {
		r := &s.running.runs[i]
		if !r.used {
			continue
		}
		t, width := &a.pools[r.pool], s.site.cluster.Width(r.key)
		t.tasks++
		t.units += width
		t.rate += r.rate()
		t.started += r.rate() * r.start.Tau
		t.terms += r.rate() * math.Abs(r.start.Tau)
		t.expected += r.price * s.tree.ownMean(r.pool)
		if r.queued {
			t.queued++
			t.queuedUnits += width
		}
		if r.begun >= 0 {
			a.begun[r.begun]++
		}
	}
}

// countSubQueues counts the waiting tasks of each leaf.
func (a *recounter) countSubQueues() {
	s := a.s
	for i := range s.queues.all {
		q := &s.queues.all[i]
		for k := range q.subs() {
			sub := q.sub(k)
			a.pools[q.pool].waiting += sub.tasks
			for id := range a.wanting(q, sub) {
				a.pools[id].wanted += float64(sub.tasks) * s.site.cluster.Width(sub.key)
			}
		}
	}
}

// wanting yields the pools that want the tasks of a sub-queue. If the gate of a pool, such as its
// maximum, holds the sub-queue back, these are the pools below it; if another gate does, there are none.
func (a *recounter) wanting(q *queue, sub *subQueue) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if sub.held() && sub.full < 0 {
			return
		}
		for id := q.pool; id >= 0; id = a.s.tree.pools[id].parent {
			if sub.held() && id == sub.full || !yield(id) {
				return
			}
		}
	}
}

// addUp adds the counts of the pools below a pool to its own counts.
func (a *recounter) addUp(id int32) {
	a.s.tree.upwards(id, func(kid, above int32) { a.pools[above].add(&a.pools[kid]) })
}

func (a *recounter) comparePools() {
	s := a.s
	for i := range s.tree.pools {
		id, p, t := int32(i), &s.tree.pools[i], &a.pools[i]
		a.equal(id, "running tasks", int64(p.Tasks), int64(t.tasks))
		a.equal(id, "waiting tasks", p.Waiting, t.waiting)
		a.same(id, "units in use", p.Running, t.units, 0)
		a.same(id, "usage each second", p.Rate, t.rate, 0)
		a.same(id, "usage of running tasks", p.Started, t.started, t.terms+longAgo*t.rate)
		a.same(id, "expected usage of running tasks", p.Flight, t.expected, t.expected)
		if s.tree.allots || s.orders.owes {
			a.same(id, "units wanted", p.Wanted, t.wanted, 0)
		}
		q := s.tree.queued[id]
		a.equal(id, "tasks in queues of nodes", int64(q.tasks), int64(t.queued))
		a.same(id, "units in queues of nodes", q.units, t.queuedUnits, 0)
		if d := s.tree.daysOf(p); d != nil {
			_, _, width, _ := d.Parts(s.site.instant.Unix)
			a.same(id, "usage each second, by days", width, t.rate, 0)
		}
	}
}

// Difference is a sum that the scheduler maintains from event to event and that differs from a recount. There is
// never one, unless the scheduler counts wrongly.
type Difference struct {
	Pool          string  // "" for the root, and for sums of no pool
	What          string  // the sum
	Kept, Counted float64 // the maintained value, and the correct one
}

func (d Difference) String() string {
	of := ""
	if d.Pool != "" {
		of = " of " + d.Pool
	}
	return fmt.Sprintf("%s%s: kept %v, counted %v", d.What, of, d.Kept, d.Counted)
}

// tally holds the counts of a pool: first of its own tasks and jobs, then including the pools below.
type tally struct {
	tasks, queued           int32
	waiting                 int64
	units, queuedUnits      float64
	rate, started, expected float64
	wanted                  float64 // includes the pools below from the start
	terms                   float64 // sum of the absolute terms of started
}

func (t *tally) add(u *tally) {
	t.tasks += u.tasks
	t.queued += u.queued
	t.waiting += u.waiting
	t.units += u.units
	t.queuedUnits += u.queuedUnits
	t.rate += u.rate
	t.started += u.started
	t.terms += u.terms
	t.expected += u.expected
}

// longAgo is a time since the clock began, in seconds. The sums for the usage of running tasks have terms as
// large as that time, so they may have rounding errors accordingly.
const longAgo = 1e5
