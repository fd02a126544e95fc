package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead"
)

// Options say what clients do.
type Options struct {
	Clients int // per store
	Jobs    int // in all
	TTL     time.Duration
	Length  time.Duration // of the history
	Seed    uint64
	// Clock orders the calls; default counts them, which does for one process.
	Clock func() int64
	// Cut is how many calls of a hundred are given up before the answer.
	Cut int
	// Faults says that calls may fail: whether they took effect is not known then.
	Faults bool
	// Note is called for calls when they begin and when they are over; may be nil.
	Note func([]*Call)
}

// window is how many jobs are contended for at the same time.
const window = 4

// retries is that of the jobs. Each pause after a failure is twice the one before, the last
// about a millisecond.
const retries = 20

// Submit adds the jobs that clients contend for: single tasks, and arrays of three.
func Submit(ctx context.Context, s fairlead.Store, n int) ([]int64, error) {
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: "k", User: "ann", Pool: "ann", Tasks: 1 + 2*(i%3/2), Retries: retries, Backoff: time.Nanosecond}
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

// Record lets several clients of each store, all stores on the same jobs, contend for
// leases until the history is long enough, and returns their calls. At the end all tasks
// are read once more.
func Record(ctx context.Context, stores []fairlead.Store, o Options) ([]*Call, error) {
	ids, err := Submit(ctx, stores[0], o.Jobs)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		var n atomic.Int64
		o.Clock = func() int64 { return n.Add(1) }
	}
	calls, err := Contend(ctx, stores, ids, time.Now(), 0, o)
	seen, err2 := ReadAll(ctx, stores[0], ids, o)
	return append(calls, seen...), errors.Join(err, err2)
}

// Contend is the part of Record for jobs that are there already, and clients with numbers
// from first on. The history began before, if others are at it.
func Contend(ctx context.Context, stores []fairlead.Store, ids []int64, began time.Time, first int, o Options) (calls []*Call, err error) {
	known := &known{refs: map[int64][]fairlead.Ref{}}
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
func ReadAll(ctx context.Context, s fairlead.Store, ids []int64, o Options) ([]*Call, error) {
	c := &client{o: o, n: -1, store: s}
	for _, id := range ids {
		c.read(ctx, id)
	}
	return c.calls, c.err
}

// known are attempts that were leased, whether over or not: clients also speak about those
// of each other, and long after they are over.
type known struct {
	mu   sync.Mutex
	refs map[int64][]fairlead.Ref
}

func (k *known) add(r fairlead.Ref) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refs[r.JobID] = append(k.refs[r.JobID], r)
}

// of picks one of the last attempts of a job, most likely the last.
func (k *known) of(job int64, rng *rand.Rand) (fairlead.Ref, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	refs := k.refs[job]
	if len(refs) == 0 {
		return fairlead.Ref{}, false
	}
	return refs[max(0, len(refs)-1-rng.IntN(3)*rng.IntN(3))], true
}

// client makes calls, one after the other, and notes them.
type client struct {
	o      Options
	n      int
	holder string
	store  fairlead.Store
	jobs   []int64
	known  *known
	rng    *rand.Rand
	calls  []*Call
	due    bool // it slept for just as long as leases last
	err    error
}

// run makes calls until the history is long enough. The jobs move past slowly, so that each
// has a time in which many want it.
func (c *client) run(ctx context.Context, began time.Time) {
	for ctx.Err() == nil && c.err == nil {
		first := int(time.Since(began) * time.Duration(len(c.jobs)-window) / c.o.Length)
		if first+window > len(c.jobs) {
			return
		}
		c.step(ctx, c.jobs[first:first+window])
		d := c.delay()
		c.due = d == c.o.TTL
		time.Sleep(d)
	}
}

// delay is mostly short; now and then the client is stopped for longer than its leases last.
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
	// An expiry that was not answered may end any lease at any later time: with each of them
	// there is twice as much to check, of all tasks, so that few are given up.
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

// some are up to two attempts, each of another job.
func (c *client) some(jobs []int64) (refs []fairlead.Ref) {
	at := c.rng.IntN(len(jobs))
	for i := range 1 + c.rng.IntN(2) {
		if r, ok := c.known.of(jobs[(at+i)%len(jobs)], c.rng); ok {
			refs = append(refs, r)
		}
	}
	return refs
}

// begin notes that a call is under way.
func (c *client) begin(v Verb, job int64, task int) *Call {
	k := &Call{Client: c.n, N: len(c.calls), Verb: v, Job: job, Task: task, From: time.Now(), TTL: c.o.TTL, Retries: retries, Begun: c.o.Clock(), Done: forever, Unknown: true}
	c.calls = append(c.calls, k)
	return k
}

func (c *client) note(calls ...*Call) {
	if c.o.Note != nil {
		c.o.Note(calls)
	}
}

// end notes the answer to calls. Without one, the call goes on for ever.
func (c *client) end(err error, calls ...*Call) (answered bool) {
	done, to := c.o.Clock(), time.Now()
	for _, k := range calls {
		if k.To = to; err == nil {
			k.Done, k.Unknown = done, false
		}
	}
	if err != nil && !c.o.Faults {
		c.err = err
	}
	return err == nil
}
