package explain

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/sched"
)

// How long a list waits for a new order if there is an older order, and how old the older order may be.
const (
	orderWait = 50 * time.Millisecond
	orderOld  = time.Minute
)

// Order returns the order of the next starts.
func (ex *Explainer) Order(ctx context.Context) *Order {
	last, _ := ex.order.Peek(ex.loop)
	wait := orderWait
	if last == nil || time.Since(last.At) > orderOld {
		wait = time.Minute
	}
	return ex.orderSoon(ctx, wait)
}

// CachedOrder is [Explainer.Order] for a page that should appear at once even without an order: it may return an older
// order, or an empty one. The next one is computed in the background.
func (ex *Explainer) CachedOrder(ctx context.Context) *Order { return ex.orderSoon(ctx, orderWait) }

// orderSoon returns the order that is available after at most the time "wait".
func (ex *Explainer) orderSoon(ctx context.Context, wait time.Duration) *Order {
	if err := ex.loop.Refresh(ctx); err != nil {
		ex.loop.Log.Warn("the order is from an older state", "error", err)
	}
	if o := ex.order.Ask(ctx, ex.loop, wait, ex.beginOrder); o != nil {
		return o
	}
	return &Order{At: time.Now()}
}

// Next returns the waiting jobs that would start first, in order. They are the jobs of a pool and the pools below it,
// or of all pools if the argument "pool" is empty. The argument "most" bounds their number. Jobs that none of the nodes
// that take tasks could run come last: the order itself ignores room, so it may put them before others.
func (ex *Explainer) Next(ctx context.Context, pool string, most int) []int64 {
	o := ex.Order(ctx)
	roomless := engine.Read(ex.loop, roomlessJobs)
	var ids, last []int64
	for _, s := range o.Starts {
		if len(ids) >= most {
			break
		}
		if !s.First || !o.in(s, pool) {
			continue
		}
		if roomless[s.Job] {
			last = append(last, s.Job)
		} else {
			ids = append(ids, s.Job)
		}
	}
	ids = append(ids, last...)
	return ids[:min(most, len(ids))]
}

// Oldest returns jobs with waiting tasks, at most "most" of them, the earliest submissions first. The first of them is
// the job that has waited longest. It leaves out jobs that may not begin yet, or that wait for other jobs.
func (ex *Explainer) Oldest(ctx context.Context, most int) []int64 {
	if err := ex.loop.Refresh(ctx); err != nil {
		ex.loop.Log.Warn("the oldest jobs are from an older state", "error", err)
	}
	return engine.Read(ex.loop, func(s *engine.State) []int64 {
		return oldestJobs(s.Core.Read(), most)
	})
}

// oldestJobs returns the ids of jobs with waiting tasks, at most "most" of them, the oldest first.
func oldestJobs(v sched.View, most int) (oldest []int64) {
	v.WaitingJobs(func(_ cluster.Key, id int64) (among bool) {
		at, _ := slices.BinarySearch(oldest, id)
		if at >= most {
			return false
		}
		oldest = slices.Insert(oldest, at, id)
		oldest = oldest[:min(most, len(oldest))]
		return true
	})
	return oldest
}

// beginOrder copies the data for an order from the state.
func (ex *Explainer) beginOrder(st *engine.State, now time.Time) func() *Order {
	o := &Order{At: now, Position: map[int64]int64{}, core: st.Core, then: st.Core.Fork(), of: st.Version,
		config: st.Shares.Hash, Whole: true}
	return func() *Order {
		room, free := ex.Room()
		defer free()
		outlook := o.then.ForkIn(room).AsOutlook()
		outlook.Preview(func(s sched.Start, units float64) bool {
			o.Add(s, units)
			if o.Whole = len(o.Starts) < previewTasks; len(o.Starts)%64 == 0 {
				runtime.Gosched() // requests for pages go first
			}
			return o.Whole
		})
		o.Name(outlook)
		return o
	}
}
