package fairlead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// step lets the core decide, leases what it chose, and hands the leases out. It
// reports whether another step may start more. Changes of the store wait meanwhile: one
// that stops or ends a lease must not be applied before the lease is known, and what was
// decided belongs to the core that decided it.
func (l *Loop) step(ctx context.Context, d *sched.Decision) (more bool, err error) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	began := time.Now()
	l.mu.Lock()
	l.core.Step(began, l.options.Batch, d)
	l.stats.Steps++
	l.stats.LastStep, l.stats.StepTime = began, time.Since(began)
	byNode := l.chosen(d)
	stops := l.chosenStops(d)
	var states []sched.RateState
	if tokens := l.core.Tokens(); tokens != l.tokens {
		l.tokens, states = tokens, l.core.RateStates()
	}
	l.mu.Unlock()
	if err := errors.Join(l.keepRates(ctx, states), l.stopRuns(ctx, stops)); err != nil {
		l.abortRest(byNode, 0)
		return false, err
	}
	lost := false
	for i, c := range byNode {
		some, err := l.lease(ctx, c)
		if err != nil {
			l.abortRest(byNode, i)
			return false, err
		}
		lost = lost || some
	}
	return d.More || lost, nil
}

// choice is what one node is to start.
type choice struct {
	holder string
	member *Member
	starts []chosenStart
}

type chosenStart struct {
	sched.Start
	levels []sched.Level
}

// chosen groups a decision by node, in the order of the decision.
func (l *Loop) chosen(d *sched.Decision) []*choice {
	var all []*choice
	at := map[string]*choice{}
	for _, s := range d.Starts {
		name := l.core.Cluster().Nodes()[s.Node].Name
		c := at[name]
		if c == nil {
			c = &choice{holder: name, member: l.members[name]}
			at[name] = c
			all = append(all, c)
		}
		c.starts = append(c.starts, chosenStart{s, slices.Clone(d.Why(s))})
	}
	return all
}

// lease leases what a node is to start and hands it over. It reports whether a task
// was lost to someone else, so that there is room for another.
func (l *Loop) lease(ctx context.Context, c *choice) (lost bool, err error) {
	wants := make([]Want, len(c.starts))
	for i, s := range c.starts {
		wants[i].Job = s.Job
	}
	grants, err := l.store.Lease(ctx, c.holder, wants, l.options.LeaseTTL)
	if err != nil {
		return false, fmt.Errorf("lease jobs: %w", err)
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	var leases []*Lease
	for i, g := range grants {
		s := c.starts[i]
		if g.Lease == nil {
			l.core.Abort(s.Run, now, false)
			l.reconcile(s.Job, s.Pool, g.Waiting, now)
			lost = true
			continue
		}
		if l.wentElsewhere(&s, g.Lease) {
			l.core.Abort(s.Run, now, false)
			go l.giveBack([]Ref{g.Lease.Ref})
			lost = true
			continue
		}
		l.began(c, s, g.Lease)
		leases = append(leases, g.Lease)
	}
	c.starts = nil
	l.version++
	l.hand(c, leases)
	return lost, nil
}

// began notes a task that was leased.
func (l *Loop) began(c *choice, s chosenStart, lease *Lease) {
	h := headerOf(lease.Job)
	l.forgetRun(taskID{lease.JobID, lease.Task}, lease.Started)
	l.runs[taskID{lease.JobID, lease.Task}] = &liveRun{
		ref: lease.Ref, run: s.Run, member: c.member, holder: c.holder, pool: s.Pool, header: h, started: lease.Started, came: cameAt(lease),
	}
	l.decided.add(l.core, lease, s.levels)
	l.stats.Started++
	l.watchers.publish(Event{
		Job: lease.JobID, Task: lease.Task, At: lease.Started, Code: "started",
		Text: fmt.Sprintf("attempt %d on %s", lease.Attempt, c.holder),
	})
}

// forgetRun counts an attempt out of the core that is over in the store, and whose end
// has not been told here yet.
func (l *Loop) forgetRun(id taskID, now time.Time) {
	if old := l.runs[id]; old != nil {
		delete(l.runs, id)
		l.core.Finish(old.run, now, false)
	}
}

// hand gives leases to their worker. If it has left meanwhile, they go back.
func (l *Loop) hand(c *choice, leases []*Lease) {
	if len(leases) == 0 {
		return
	}
	if m := l.members[c.holder]; m != nil && m == c.member {
		m.worker.Start(leases)
		return
	}
	refs := make([]Ref, len(leases))
	for i, lease := range leases {
		refs[i] = lease.Ref
	}
	go l.giveBack(refs)
}

// giveBack releases attempts that did no work.
func (l *Loop) giveBack(refs []Ref) {
	if err := l.release(context.Background(), refs); err != nil {
		l.log.Warn("tasks could not be given back; they wait for the end of their leases", "error", err)
	}
}

func (l *Loop) release(ctx context.Context, refs []Ref) error {
	l.ending.RLock()
	defer l.ending.RUnlock()
	errs, err := l.store.Release(context.WithoutCancel(ctx), refs)
	if err != nil {
		return err
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, ref := range refs {
		if errs[i] == nil {
			l.abort(ref, now)
		}
	}
	l.poke()
	return nil
}

// abort counts a task out of the core as if it had never started. That it waits
// again comes with the changes of the store.
func (l *Loop) abort(ref Ref, now time.Time) {
	id := taskID{ref.JobID, ref.Task}
	if r := l.runs[id]; r != nil && r.ref == ref {
		delete(l.runs, id)
		l.core.Abort(r.run, now, false)
		l.version++
	}
}

// reconcile lets the core know of a job what the store said when a want was lost.
func (l *Loop) reconcile(job int64, pool sched.PoolID, waiting []Waits, now time.Time) {
	if len(waiting) == 0 {
		return
	}
	jobs, err := l.store.Jobs(context.Background(), Query{IDs: []int64{job}})
	if err != nil || len(jobs) == 0 {
		return
	}
	j := l.jobOf(headerOf(jobs[0]))
	l.core.Withdraw(j, now)
	for _, w := range waiting {
		j.Tasks, j.Begin = w.Tasks, w.Begin
		l.core.Add(j, now)
	}
}

// abortRest undoes what was decided and not leased, after an error of the store.
func (l *Loop) abortRest(all []*choice, failed int) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range all[min(failed, len(all)):] {
		for _, s := range c.starts {
			l.core.Abort(s.Run, now, true)
		}
	}
	l.version++
}

// headerOf is what the loop needs to know of a job.
func headerOf(j *Job) Header {
	return Header{
		ID: j.ID, User: j.User, Kind: j.Kind, Pool: j.Pool, Priority: j.Priority,
		QOS: j.QOS, Nice: j.Nice, Group: j.Group, Requestor: j.Requestor, Limit: j.Limit,
		Request: j.Request, Constraint: j.Constraint, Licenses: j.Licenses, Rates: j.Rates, Handler: len(j.Argv) == 0, Most: j.Most, Tasks: j.Tasks, Submitted: j.Submitted,
	}
}
