package fairlead

import (
	"context"
	"runtime"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
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
	paths  []string // of the pools of these, by number
	whole  bool     // there is nothing that starts later
}

// add adds the next start.
func (o *Order) add(s sched.Start, units float64) {
	_, known := o.Position[s.Job]
	o.starts = append(o.starts, orderedStart{s.Job, s.Pool, float32(units), !known})
	if !known {
		o.Position[s.Job] = int64(len(o.starts))
	}
}

// name notes the paths of the pools, so that nobody has to ask the scheduler for them.
func (o *Order) name(path func(sched.PoolID) string) {
	for _, s := range o.starts {
		for int(s.pool) >= len(o.paths) {
			o.paths = append(o.paths, "")
		}
		if o.paths[s.pool] == "" {
			o.paths[s.pool] = path(s.pool)
		}
	}
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
	last, _ := l.order.peek(l)
	wait := orderWait
	if last == nil || time.Since(last.At) > orderOld {
		wait = time.Minute
	}
	return l.orderSoon(ctx, wait)
}

// Glance is [Loop.Order] for a page, which is better shown at once without an order than late: what
// it returns may be older, or empty. The next one is made meanwhile.
func (l *Loop) Glance(ctx context.Context) *Order { return l.orderSoon(ctx, orderWait) }

// orderSoon is the order as it is known after some time.
func (l *Loop) orderSoon(ctx context.Context, wait time.Duration) *Order {
	if err := l.sync(ctx); err != nil {
		l.log.Warn("the order is of an older state", "error", err)
	}
	if o := l.order.ask(ctx, l, wait, l.beginOrder); o != nil {
		return o
	}
	return &Order{At: time.Now()}
}

// beginOrder takes what an order is made of out of the loop, which is locked.
func (l *Loop) beginOrder(now time.Time) func() *Order {
	core, version, outlook := l.core, l.version, l.core.Outlook()
	return func() *Order {
		o := &Order{At: now, Position: map[int64]int64{}, core: core, of: version, whole: true}
		outlook.Preview(func(s sched.Start, units float64) bool {
			o.add(s, units)
			if o.whole = len(o.starts) < previewTasks; len(o.starts)%64 == 0 {
				runtime.Gosched() // whoever waits for a page goes first
			}
			return o.whole
		})
		o.name(outlook.Path)
		return o
	}
}

// Next returns jobs that wait and would start first, in that order: of a pool and those below
// it, or of all if pool is empty, and at most so many.
func (l *Loop) Next(ctx context.Context, pool string, most int) []int64 {
	o := l.Order(ctx)
	var ids []int64
	for _, s := range o.starts {
		if len(ids) >= most {
			break
		}
		if s.first && (pool == "" || share.Inside(o.paths[s.pool], pool)) {
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
