package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// window is the number of jobs that clients contend for at the same time.
const window = 4

// Submit adds the jobs that clients contend for: single tasks, and arrays of three.
func Submit(ctx context.Context, s queue.Store, n int) ([]int64, error) {
	jobs := make([]*queue.Job, n)
	for i := range jobs {
		jobs[i] = &queue.Job{Kind: "k", User: "ann", Pool: "ann", Tasks: 1 + 2*(i%3/2), Retries: retries, Backoff: time.Nanosecond}
	}
	subs, err := s.Submit(ctx, jobs)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, n)
	for i, sub := range subs {
		if sub.Err != nil {
			return nil, sub.Err
		}
		ids[i] = sub.ID
	}
	return ids, nil
}

// Record makes several clients of each store, all on the same jobs, contend for leases until the history is long
// enough, and returns their calls. At the end all tasks are read once more.
func Record(ctx context.Context, stores []queue.Store, o Options) ([]*Call, error) {
	ids, err := Submit(ctx, stores[0], o.Jobs)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		var n atomic.Int64
		o.Clock = func() int64 { return n.Add(1) }
	}
	calls, err := Contend(ctx, stores, ids, time.Now(), 0, o)
	if o.Settle != nil {
		o.Settle()
		settled(calls, o.Clock(), time.Now())
	}
	seen, err2 := ReadAll(ctx, stores[0], ids, o)
	return append(calls, seen...), errors.Join(err, err2)
}

// settled marks calls without an answer as having no effect from now on.
func settled(calls []*Call, done int64, at time.Time) {
	for _, c := range calls {
		if c.Unknown {
			c.Done, c.To = done, at
		}
	}
}

// Contend is the part of Record for existing jobs, and for clients whose numbers begin with the argument "first". If
// other processes take part, the history began earlier, at the instant "began".
func Contend(ctx context.Context, stores []queue.Store, ids []int64, began time.Time, first int, o Options) (calls []*Call, err error) {
	known := &known{refs: map[int64][]queue.Ref{}}
	var all []*client
	var wg sync.WaitGroup
	for i, s := range stores {
		for range o.Clients {
			n := first + len(all)
			c := &client{o: o, n: n, holder: fmt.Sprint("h", first+i), store: s, jobs: ids, known: known, rng: rand.New(rand.NewPCG(o.Seed, uint64(n)))}
			all = append(all, c)
			wg.Go(func() { c.run(ctx, began) })
		}
	}
	wg.Wait()
	for _, c := range all {
		calls, err = append(calls, c.calls...), errors.Join(err, c.err)
	}
	return calls, err
}

// ReadAll reads all tasks of jobs.
func ReadAll(ctx context.Context, s queue.Store, ids []int64, o Options) ([]*Call, error) {
	c := &client{o: o, n: -1, store: s}
	for _, id := range ids {
		c.read(ctx, id)
	}
	return c.calls, c.err
}

// run makes calls until the history is long enough. The window of jobs advances slowly, so that many clients want each
// job for some time.
func (c *client) run(ctx context.Context, began time.Time) {
	for ctx.Err() == nil && c.err == nil {
		first := c.first(began)
		if first+window > len(c.jobs) {
			return
		}
		c.step(ctx, c.jobs[first:first+window])
		c.steps++
		d := c.delay()
		c.due = d == c.o.TTL
		time.Sleep(d)
	}
}

// first returns the first job in the present window.
func (c *client) first(began time.Time) int {
	if c.o.Steps > 0 {
		return c.steps * (len(c.jobs) - window + 1) / c.o.Steps
	}
	return int(time.Since(began) * time.Duration(len(c.jobs)-window) / c.o.Length)
}

// delay returns a pause that is usually short; sometimes it is longer than the client's leases last.
func (c *client) delay() time.Duration {
	switch n := c.rng.IntN(40); {
	case n < 3:
		return c.o.TTL
	case n == 3:
		return c.o.TTL + time.Duration(c.rng.IntN(20))*c.o.TTL/20
	case n < 10:
		return time.Duration(c.rng.IntN(10)) * c.o.TTL / 10
	case n < 20:
		return c.o.TTL / 40
	}
	return 0
}

func (c *client) step(ctx context.Context, jobs []int64) {
	job := jobs[c.rng.IntN(len(jobs))]
	refs := c.some(jobs)
	n := c.rng.IntN(20)
	if c.due { // leases end at this instant, and some are renewed
		n = 7 + c.rng.IntN(2)*9
	}
	// An expiry without an answer may end any lease at any later time. Each such expiry doubles the work of the check,
	// for all tasks, so clients give up few of them.
	expires := n >= 16 && n < 19
	if c.rng.IntN(100) < c.o.Cut && (!expires || c.rng.IntN(5) == 0) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.rng.IntN(3000))*time.Microsecond)
		defer cancel()
	}
	switch {
	case n < 7 || len(refs) == 0:
		c.lease(ctx, job)
	case n < 11:
		c.renew(ctx, refs)
	case n < 15:
		c.finish(ctx, refs)
	case n < 16:
		c.release(ctx, refs)
	case n < 18:
		c.expire(ctx, "")
	case n < 19 && c.rng.IntN(6) == 0:
		c.expire(ctx, c.holder)
	default:
		c.read(ctx, job)
	}
}
