package fairlead

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// Order is the order in which waiting jobs would start if room came slot by slot.
type Order struct {
	At time.Time
	// Position is the place of each job's next task, from 1, as far as the preview
	// went.
	Position map[int64]int64

	core   *sched.Scheduler // whose pools it is about
	of     uint64           // version of the state
	starts []orderedStart
}

// orderedStart is one task in the order.
type orderedStart struct {
	job   int64
	pool  sched.PoolID
	units float32
	first bool // of its job
}

// After returns up to n jobs whose next tasks have a place behind the given one, in the order of
// their places, and these.
func (o *Order) After(place int64, n int) (jobs, places []int64) {
	for i := max(0, place); i < int64(len(o.starts)) && len(jobs) < n; i++ {
		if s := o.starts[i]; s.first {
			jobs, places = append(jobs, s.job), append(places, i+1)
		}
	}
	return jobs, places
}

// orderTasks bounds how far the order under another configuration is previewed.
const orderTasks = 20_000

// How long a list waits for an order that is made anew while there is an older one, and how
// old that may be.
const (
	orderWait = 50 * time.Millisecond
	orderOld  = time.Minute
)

// Order returns the order of the next starts.
func (l *Loop) Order(ctx context.Context) *Order {
	if err := l.sync(ctx); err != nil {
		l.log.Warn("the order is of an older state", "error", err)
	}
	return l.orderSoon(ctx, orderWait)
}

// orderSoon is Order for one who does not wait for longer, unless there is none.
func (l *Loop) orderSoon(ctx context.Context, wait time.Duration) *Order {
	if last, _ := l.order.peek(l); last == nil || time.Since(last.At) > orderOld {
		wait = time.Minute
	}
	if o := l.order.ask(ctx, l, wait, l.beginOrder); o != nil {
		return o
	}
	return &Order{At: time.Now()}
}

// beginOrder takes what an order is made of out of the loop, which is locked.
func (l *Loop) beginOrder(now time.Time) func() *Order {
	core, version, future := l.core, l.version, l.core.Future()
	return func() *Order {
		o := &Order{At: now, Position: map[int64]int64{}, core: core, of: version}
		future.Preview(func(s sched.Start, units float64) bool {
			_, known := o.Position[s.Job]
			o.starts = append(o.starts, orderedStart{s.Job, s.Pool, float32(units), !known})
			if !known {
				o.Position[s.Job] = int64(len(o.starts))
			}
			return len(o.starts) < previewTasks
		})
		return o
	}
}

// Next returns jobs that wait and would start first, in that order: of a pool and those below
// it, or of all if pool is empty, and at most so many.
func (l *Loop) Next(ctx context.Context, pool string, most int) []int64 {
	o := l.Order(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []int64
	for _, s := range o.starts {
		if len(ids) >= most {
			break
		}
		if s.first && (pool == "" || share.Inside(o.core.Path(s.pool), pool)) {
			ids = append(ids, s.job)
		}
	}
	return ids
}

// Oldest returns the jobs of which a task waits that were submitted first, at most so many: the
// first is that of which [PoolView.OldestWait] of the whole tells. Those that may not begin yet, or
// wait for other jobs, are not among them.
func (l *Loop) Oldest(ctx context.Context, most int) []int64 {
	if err := l.sync(ctx); err != nil {
		l.log.Warn("the oldest jobs are of an older state", "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.OldestJobs(most)
}

// manyWaiting is from how many waiting tasks on the place of a job is looked up in the order
// that all share. A preview of its own takes as long as there are tasks before it.
const manyWaiting = 4000

// orderOf returns an order in which the place of a job can be looked up; nil if it is to be
// found by a preview.
func (l *Loop) orderOf(ctx context.Context, job int64) *Order {
	if _, waiting := l.Running(); waiting < manyWaiting {
		return nil
	}
	const glance = 3 * time.Millisecond
	o := l.orderSoon(ctx, glance)
	if _, known := o.Position[job]; !known {
		o = l.orderSoon(ctx, 4*orderWait)
	}
	return o
}

// rankIn looks a job's place up in an order. What is not in an older one is looked for by a
// short preview: it may have come since.
func (l *Loop) rankIn(o *Order, a *why.Answer, j sched.Job) {
	place, found := o.Position[j.ID]
	switch {
	case !found && o.of != l.version:
		l.rank(a, j, whatIfTasks)
		return
	case !found && len(o.starts) < previewTasks:
		return // it cannot start, even with all the room there is
	}
	before := o.starts
	if found {
		before = o.starts[:place-1]
	}
	t := l.tally(a, j)
	for _, s := range before {
		t.add(s.pool, s.first, float64(s.units))
	}
	t.close(found)
}
