package linear

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Options control the clients.
type Options struct {
	Clients int // per store
	Jobs    int // in total
	TTL     time.Duration
	Length  time.Duration // of the history
	Steps   int           // number of calls of each client, however long they take; 0: use Length
	Seed    uint64
	// Clock orders the calls; the default counts them, which suffices for one process.
	Clock func() int64
	// Cut is the percentage of calls that are given up before the answer.
	Cut int
	// Faults permits failed calls, for which it is unknown whether they took effect.
	Faults bool
	// Settle waits, after the last call, until calls without an answer can have no more effect; may be nil.
	Settle func()
	// Note is called for calls when they begin and when they end; may be nil.
	Note func([]*Call)
}

// retries is the Retries of the jobs. Each pause after a failure is twice the one before, the last about a millisecond.
const retries = 20

// known holds the attempts that were leased, even if they are over: clients also make calls about each other's
// attempts, even long after these are over.
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

// client makes calls, one at a time, and records them.
type client struct {
	o      Options
	n      int
	holder string
	store  queue.Store
	jobs   []int64
	known  *known
	rng    *rand.Rand
	calls  []*Call
	steps  int  // number of steps so far
	due    bool // it just slept exactly as long as leases last
	err    error
}

// some returns up to two attempts of different jobs.
func (c *client) some(jobs []int64) (refs []queue.Ref) {
	at := c.rng.IntN(len(jobs))
	for i := range 1 + c.rng.IntN(2) {
		if r, ok := c.known.of(jobs[(at+i)%len(jobs)], c.rng); ok {
			refs = append(refs, r)
		}
	}
	return refs
}

// begin records that a call is in progress.
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

// end records the answer to calls. A call without one never ends.
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
