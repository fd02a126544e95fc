package forecast

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Reordering is a change of the order of starts.
type Reordering struct {
	At time.Time `json:"at"`
	// Jobs are the jobs to change, in the order in which they were named, without jobs that do not wait. For a boost, it
	// is the job of the pool that goes first.
	Jobs []Moved `json:"jobs"`
	// Later and Sooner count the other jobs that would get a later, and an earlier place.
	Later  int `json:"later"`
	Sooner int `json:"sooner"`
	// Pools are the pools of the later jobs, those with most first, and Others the first of these jobs.
	Pools  []movedPool `json:"pools"`
	Others []Moved     `json:"others"`
	// Priorities are the configured priorities, the highest first.
	Priorities []string `json:"priorities,omitempty"`
	// Looked is the maximum number of starts that were searched; 0 if all were.
	Looked int `json:"looked,omitempty"`
}

// Moved is a job whose place in the order of starts would change. A place is that of its next task; 0 is none:
// something other than the order holds the job back, or it is behind all searched starts.
type Moved struct {
	Job    int64  `json:"job"`
	Name   string `json:"name,omitempty"`
	User   string `json:"user"`
	Pool   string `json:"pool"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
}

// movedPool is a pool with the number of its jobs that would start later, by the order.
type movedPool struct {
	Pool string `json:"pool"`
	Jobs int    `json:"jobs"`
}

// othersMoved is the number of other jobs that are named.
const othersMoved = 20

// Reorder predicts how the order of starts would change if some jobs had another priority. It gives them that priority
// in a fork of the scheduler. It changes nothing.
func (fc *Forecaster) Reorder(ctx context.Context, ids []int64, v Variation) (*Reordering, error) {
	if v.Limit != nil || v.Pool != nil || len(v.Request) > 0 || v.Constraint != nil || v.Licenses != nil {
		return nil, queue.Invalidf("reorder", "only priorities can be asked about: priority, qos and nice")
	}
	jobs, err := fc.loop.Client().Jobs(ctx, queue.Query{IDs: slices.Clone(ids)})
	if err != nil {
		return nil, err
	}
	known := map[int64]bool{}
	for _, j := range jobs {
		known[j.ID] = true
	}
	for _, id := range ids {
		if !known[id] {
			return nil, queue.NoJob(id)
		}
	}
	rooms := fc.borrow()
	defer rooms.drop()
	x, err := fc.beginReorder(jobs, v, rooms)
	if err != nil {
		return nil, err
	}
	before := orderOf(x.fork, x.now)
	for i := range x.own {
		x.fork.Exchange(x.own[i], []sched.Job{x.other[i]}, x.now)
	}
	r := compareOrders(before, orderOf(x.fork, x.now), x.waiting)
	slices.SortStableFunc(r.Jobs, func(a, b Moved) int {
		return cmp.Compare(slices.Index(ids, a.Job), slices.Index(ids, b.Job))
	})
	r.Priorities = x.priorities
	return r, fc.nameMoved(ctx, r.Others)
}

// reorder holds the data to compute a changed order.
type reorder struct {
	now        time.Time
	fork       *sched.Scheduler
	priorities []string
	waiting    []Moved     // jobs with a waiting task
	own, other []sched.Job // unchanged and changed jobs
}

// beginReorder copies the needed data from the engine.
func (fc *Forecaster) beginReorder(jobs []*queue.Job, v Variation, rooms *borrowed) (*reorder, error) {
	return engine.Read2(fc.loop, func(s *engine.State) (*reorder, error) {
		x := &reorder{now: time.Now()}
		x.priorities = slices.DeleteFunc(s.Shares.Priorities(), func(name string) bool {
			return slices.ContainsFunc(jobs, func(j *queue.Job) bool {
				return s.Shares.CheckRights(v.By, j, queue.Alteration{Priority: name}) != nil
			})
		})
		s.Core.Advance(x.now)
		x.fork = s.Core.ForkIn(rooms.room())
		for _, j := range jobs {
			next := v.apply(j)
			if err := next.Check(); err != nil {
				return nil, err
			}
			n := poolpath.Naming(s.Core, v.By)
			n.In, n.Priority, n.QOS = j.Pool, j.Priority, j.QOS
			if err := s.Shares.Settle(&next, n); err != nil {
				return nil, err
			}
			if j.Held || j.Pending > 0 || j.Waiting == 0 || j.State.Ended() {
				continue
			}
			next.Tasks = j.Waiting
			forked := s.With(x.fork)
			x.own = append(x.own, forked.JobOf(engine.HeaderOf(j)))
			other := forked.JobOf(engine.HeaderOf(&next))
			other.Begin = next.Begin
			x.other = append(x.other, other)
			x.waiting = append(x.waiting, Moved{Job: j.ID, Name: j.Name, User: j.User, Pool: j.Pool})
		}
		return x, nil
	})
}

// orderOf returns the order of a scheduler's starts, up to a bound.
func orderOf(s *sched.Scheduler, now time.Time) *explain.Order {
	o := &explain.Order{At: now, Position: map[int64]int64{}, Whole: true}
	s.Preview(func(st sched.Start, units float64) bool {
		o.Add(st, units)
		o.Whole = len(o.Starts) < explain.OrderTasks
		return o.Whole
	})
	o.Name(s)
	return o
}

// compareOrders reports how the second order differs from the first. The argument "changed" has the jobs that the
// report is about.
func compareOrders(before, after *explain.Order, changed []Moved) *Reordering {
	r := &Reordering{At: before.At, Jobs: []Moved{}, Pools: []movedPool{}, Others: []Moved{}}
	if !before.Whole || !after.Whole {
		r.Looked = explain.OrderTasks
	}
	own := make(map[int64]bool, len(changed))
	for _, j := range changed {
		own[j.Job] = true
		j.Before, j.After = before.Position[j.Job], after.Position[j.Job]
		r.Jobs = append(r.Jobs, j)
	}
	byPool := map[string]int{}
	for _, s := range before.Starts {
		if !s.First || own[s.Job] {
			continue
		}
		was, is := before.Position[s.Job], after.Position[s.Job]
		switch {
		case is > 0 && is < was:
			r.Sooner++
		case is > was || is == 0 && !after.Whole:
			r.Later++
			pool := before.Labels[s.Pool].Path
			byPool[pool]++
			if len(r.Others) < othersMoved {
				r.Others = append(r.Others, Moved{Job: s.Job, Pool: pool, Before: was, After: is})
			}
		}
	}
	for pool, n := range byPool {
		r.Pools = append(r.Pools, movedPool{pool, n})
	}
	slices.SortFunc(r.Pools, func(a, b movedPool) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Pool, b.Pool))
	})
	return r
}

// nameMoved fills in the names and users of jobs.
func (fc *Forecaster) nameMoved(ctx context.Context, moved []Moved) error {
	ids := make([]int64, len(moved))
	for i := range moved {
		ids[i] = moved[i].Job
	}
	return fc.eachJob(ctx, ids, func(i int, j *queue.Job) { moved[i].User, moved[i].Name = j.User, j.Name })
}

// eachJob reads jobs. For each job it calls the function "each" with the index of the job's number and the
// job.
func (fc *Forecaster) eachJob(ctx context.Context, ids []int64, each func(i int, j *queue.Job)) error {
	if len(ids) == 0 {
		return nil
	}
	jobs, err := fc.loop.Client().Jobs(ctx, queue.Query{IDs: slices.Clone(ids)})
	for _, j := range jobs {
		if i := slices.Index(ids, j.ID); i >= 0 {
			each(i, j)
		}
	}
	return err
}
