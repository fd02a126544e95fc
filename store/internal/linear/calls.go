package linear

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead/queue"
)

// maxTasks is the maximum number of tasks of a job that clients contend for.
const maxTasks = 3

func (c *client) lease(ctx context.Context, job int64) {
	k := c.begin(Lease, job, -1)
	k.Holder = c.holder
	c.note(k)
	grants, err := c.store.Lease(ctx, c.holder, []queue.Want{{Job: job}}, c.o.TTL)
	if c.end(err, k) {
		if l := grants[0].Lease; l == nil {
			k.Refused = true
		} else {
			k.Task, k.Attempt = l.Task, l.Attempt
			c.known.add(l.Ref)
		}
	}
	c.note(k)
}

// about records one call for each attempt.
func (c *client) about(v Verb, refs []queue.Ref) (calls []*Call) {
	for _, r := range refs {
		k := c.begin(v, r.JobID, r.Task)
		k.Attempt = r.Attempt
		calls = append(calls, k)
	}
	return calls
}

// answers records the answer about each attempt.
func (c *client) answers(calls []*Call, errs []error, err error) {
	if c.end(err, calls...) {
		for i, k := range calls {
			c.answer(k, errs[i])
		}
	}
	c.note(calls...)
}

func (c *client) answer(k *Call, err error) {
	if k.Stale = errors.Is(err, queue.ErrStaleAttempt); err != nil && !k.Stale {
		c.err = err
	}
}

func (c *client) renew(ctx context.Context, refs []queue.Ref) {
	calls := c.about(Renew, refs)
	c.note(calls...)
	errs, err := c.store.Renew(ctx, refs, c.o.TTL)
	c.answers(calls, errs, err)
}

func (c *client) release(ctx context.Context, refs []queue.Ref) {
	calls := c.about(Release, refs)
	c.note(calls...)
	errs, err := c.store.Release(ctx, refs)
	c.answers(calls, errs, err)
}

func (c *client) finish(ctx context.Context, refs []queue.Ref) {
	calls := c.about(Finish, refs)
	results := make([]queue.Result, len(refs))
	for i, r := range refs {
		calls[i].Outcome = queue.Failed
		if c.rng.IntN(12) == 0 {
			calls[i].Outcome = queue.Succeeded
		}
		results[i] = queue.Result{Ref: r, Outcome: queue.Outcome{State: calls[i].Outcome}}
	}
	c.note(calls...)
	verdicts, err := c.store.Finish(ctx, results)
	errs := make([]error, len(verdicts))
	for i, v := range verdicts {
		errs[i], calls[i].Again = v.Err, v.Again
	}
	c.answers(calls, errs, err)
}

// expire concerns every task of every job.
func (c *client) expire(ctx context.Context, holder string) {
	k := c.begin(Expire, 0, -1)
	k.Holder = holder
	c.note(k)
	lost, err := c.store.Expire(ctx, holder)
	if c.end(err, k) {
		k.Lost = lost
	}
	c.note(k)
}

// read records the states of tasks that have started at least once; for the others it records that they have not.
func (c *client) read(ctx context.Context, job int64) {
	calls := make([]*Call, maxTasks)
	for i := range calls {
		calls[i] = c.begin(Read, job, i)
		calls[i].Seen.State = queue.Waiting
	}
	tasks, err := c.store.Tasks(ctx, job)
	if !c.end(err, calls...) {
		c.calls = c.calls[:len(c.calls)-maxTasks] // a read without an answer says nothing
		return
	}
	for _, k := range tasks {
		calls[k.Index].Seen = Seen{Attempt: k.Attempt, Fails: k.Fails, Losses: k.Losses, State: k.State}
	}
	c.note(calls...)
}
