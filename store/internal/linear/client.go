package linear

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Options say what clients do.
type Options struct {
	Clients int // per store
	Jobs    int // in all
	TTL     time.Duration
	Length  time.Duration // of the history
	Steps   int           // what each client does in place of that, however long it takes; 0: Length says
	Seed    uint64
	// Clock orders the calls; default counts them, which does for one process.
	Clock func() int64
	// Cut is how many calls of a hundred are given up before the answer.
	Cut int
	// Faults says that calls may fail: whether they took effect is not known then.
	Faults bool
	// Settle waits, after the last call, until those without an answer have no effect any more; may be nil.
	Settle func()
	// Note is called for calls when they begin and when they are over; may be nil.
	Note func([]*Call)
}

// retries is that of the jobs. Each pause after a failure is twice the one before, the last
// about a millisecond.
const retries = 20

// known are attempts that were leased, whether over or not: clients also speak about those
// of each other, and long after they are over.
type known struct {
	mu   sync.Mutex
	refs map[int64][]queue.Ref
}

func (k *known) add(r queue.Ref) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refs[r.JobID] = append(k.refs[r.JobID], r)
}

// of picks one of the last attempts of a job, most likely the last.
func (k *known) of(job int64, rng *rand.Rand) (queue.Ref, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	refs := k.refs[job]
	if len(refs) == 0 {
		return queue.Ref{}, false
	}
	return refs[max(0, len(refs)-1-rng.IntN(3)*rng.IntN(3))], true
}

// client makes calls, one after the other, and notes them.
type client struct {
	o      Options
	n      int
	holder string
	store  queue.Store
	jobs   []int64
	known  *known
	rng    *rand.Rand
	calls  []*Call
	steps  int  // that it has made
	due    bool // it slept for just as long as leases last
	err    error
}

// some are up to two attempts, each of another job.
func (c *client) some(jobs []int64) (refs []queue.Ref) {
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
		if err == nil {
			k.Done, k.To, k.Unknown = done, to, false
		}
	}
	if err != nil && !c.o.Faults {
		c.err = err
	}
	return err == nil
}
