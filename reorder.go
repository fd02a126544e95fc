package fairlead

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// Reordering says how the order of starts would change.
type Reordering struct {
	At time.Time `json:"at"`
	// Jobs are those that would be changed, in the order in which they were named; those that do not wait
	// are left out.
	Jobs []Moved `json:"jobs"`
	// Later and Sooner are how many other jobs would have a later place, and an earlier one.
	Later  int `json:"later"`
	Sooner int `json:"sooner"`
	// Pools are whose jobs these later ones are, those with most first, and Others the first of them.
	Pools  []MovedPool `json:"pools"`
	Others []Moved     `json:"others"`
	// Priorities are those that there are, the highest first.
	Priorities []string `json:"priorities"`
	// Looked is how many starts were looked at, at most; 0 if that were all.
	Looked int `json:"looked,omitempty"`
}

// Moved is a job whose place in the order of starts would change. A place is that of its next task; 0 is none:
// something else than its turn holds it back, or it is behind all that was looked at.
type Moved struct {
	Job    int64  `json:"job"`
	Name   string `json:"name,omitempty"`
	User   string `json:"user"`
	Pool   string `json:"pool"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
}

// MovedPool is a pool with how many jobs would start later, by the order.
type MovedPool struct {
	Pool string `json:"pool"`
	Jobs int    `json:"jobs"`
}

// othersMoved is how many of the other jobs are named.
const othersMoved = 20

// Reorder says how the order of starts would change if some jobs had another priority, in a fork of the
// scheduler in which they have it. Nothing is changed.
func (l *Loop) Reorder(ctx context.Context, ids []int64, v Variation) (*Reordering, error) {
	if !v.inPlace() || v.Pool != nil {
		return nil, invalid("reorder", "only priorities can be asked about: priority, qos and nice")
	}
	jobs, err := l.client.Jobs(ctx, Query{IDs: slices.Clone(ids)})
	if err != nil {
		return nil, err
	}
	known := map[int64]bool{}
	for _, j := range jobs {
		known[j.ID] = true
	}
	for _, id := range ids {
		if !known[id] {
			return nil, fmt.Errorf("job %d: %w", id, ErrNotFound)
		}
	}
	x, err := l.beginReorder(jobs, v)
	if err != nil {
		return nil, err
	}
	before := orderOf(x.fork, x.now)
	for i := range x.own {
		x.fork.Withdraw(x.own[i], x.now)
		x.fork.Add(x.other[i], x.now)
	}
	r := compareOrders(before, orderOf(x.fork, x.now), x.waiting)
	slices.SortStableFunc(r.Jobs, func(a, b Moved) int {
		return cmp.Compare(slices.Index(ids, a.Job), slices.Index(ids, b.Job))
	})
	r.Priorities = x.priorities
	return r, l.nameMoved(ctx, r.Others)
}

// reorder is what a changed order is made of.
type reorder struct {
	now        time.Time
	fork       *sched.Scheduler
	priorities []string
	waiting    []*Job      // of the jobs those of which a task waits
	own, other []sched.Job // as they are, and as they would be
}

// beginReorder takes what it needs out of the loop.
func (l *Loop) beginReorder(jobs []*Job, v Variation) (*reorder, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := &reorder{now: time.Now(), priorities: l.shares.priorities()}
	l.core.Advance(x.now)
	x.fork = l.core.Fork()
	for _, j := range jobs {
		next := v.apply(j)
		if err := next.Check(); err != nil {
			return nil, err
		}
		if err := l.shares.settle(&next); err != nil {
			return nil, err
		}
		if j.Held || j.Pending > 0 || j.Waiting == 0 || j.State.Ended() {
			continue
		}
		next.Tasks = j.Waiting
		l.inFork(x.fork, func() {
			x.own = append(x.own, l.jobOf(headerOf(j)))
			other := l.jobOf(headerOf(&next))
			other.Begin = next.Begin
			x.other = append(x.other, other)
		})
		x.waiting = append(x.waiting, j)
	}
	return x, nil
}

// orderOf is the order of starts of a scheduler, up to a bound.
func orderOf(s *sched.Scheduler, now time.Time) *Order {
	o := &Order{At: now, Position: map[int64]int64{}, whole: true}
	s.Preview(func(st sched.Start, units float64) bool {
		o.add(st, units)
		o.whole = len(o.starts) < orderTasks
		return o.whole
	})
	o.name(s.Path)
	return o
}

// compareOrders says what is different in the second of two orders. The jobs are those that were changed.
func compareOrders(before, after *Order, changed []*Job) *Reordering {
	r := &Reordering{At: before.At, Jobs: []Moved{}, Pools: []MovedPool{}, Others: []Moved{}}
	if !before.whole || !after.whole {
		r.Looked = orderTasks
	}
	own := make(map[int64]bool, len(changed))
	for _, j := range changed {
		own[j.ID] = true
		r.Jobs = append(r.Jobs, Moved{j.ID, j.Name, j.User, j.Pool, before.Position[j.ID], after.Position[j.ID]})
	}
	byPool := map[string]int{}
	for _, s := range before.starts {
		if !s.first || own[s.job] {
			continue
		}
		was, is := before.Position[s.job], after.Position[s.job]
		switch {
		case is > 0 && is < was:
			r.Sooner++
		case is > was || is == 0 && !after.whole:
			r.Later++
			pool := before.paths[s.pool]
			byPool[pool]++
			if len(r.Others) < othersMoved {
				r.Others = append(r.Others, Moved{Job: s.job, Pool: pool, Before: was, After: is})
			}
		}
	}
	for pool, n := range byPool {
		r.Pools = append(r.Pools, MovedPool{pool, n})
	}
	slices.SortFunc(r.Pools, func(a, b MovedPool) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Pool, b.Pool))
	})
	return r
}

// nameMoved says whose jobs these are.
func (l *Loop) nameMoved(ctx context.Context, moved []Moved) error {
	if len(moved) == 0 {
		return nil
	}
	ids := make([]int64, len(moved))
	for i := range moved {
		ids[i] = moved[i].Job
	}
	jobs, err := l.client.Jobs(ctx, Query{IDs: slices.Clone(ids)})
	for _, j := range jobs {
		if i := slices.Index(ids, j.ID); i >= 0 {
			moved[i].User, moved[i].Name = j.User, j.Name
		}
	}
	return err
}
