package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/bounded"
	"github.com/fairlead/fairlead/internal/ends"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/usage"
)

// Member is a worker that joined an engine.
type Member struct {
	*joinedNode
	finisher *finisher
}

// finisher ends attempts.
type finisher struct {
	*base
	overrides *Overrides
	applier   *applier
	releaser  *releaser
	refusing  sync.Mutex // held while weigh decides about refused tasks
	unkept    refusedEnds
}

// refuses reports whether a result is about a task that its node could not begin.
func refuses(r queue.Result) bool { return r.Outcome.Refused != "" }

// weigh decides about tasks that a node could not begin: If the job itself is the reason, it ends. Otherwise, if
// another known node, up or not, could take the task, the task waits for that node. If there is no such node, the job
// ends, unless this node may still begin it: then the node gets the task again. If a result ends a job and no node is
// to blame, NotFound marks the result. The caller holds refusing until the results are in the store, because each
// result affects the next.
func (f *finisher) weigh(ctx context.Context, results []queue.Result) ([]queue.Result, error) {
	jobs, err := f.refusedJobs(ctx, results)
	if err != nil {
		return nil, err
	}
	return read2(f.base, func(s *State) ([]queue.Result, error) {
		out, now := slices.Clone(results), time.Now()
		for i, res := range results {
			r, j := s.Runs[taskID{res.JobID, res.Task}], jobs[res.JobID]
			if !refuses(res) || r == nil || r.Ref != res.Ref || j == nil {
				continue
			}
			f.decide(s, notBegun{r, &out[i].Outcome, s.Mended.kept(j.Avoid), commandOf(j)}, now)
			if o := out[i].Outcome; o.Refused != queue.RefusedNow && !o.Final {
				j.Avoid = append(slices.Clip(j.Avoid), queue.Avoided{Node: r.Holder, At: now, Cause: o.Cause})
			}
		}
		return out, nil
	})
}

// decide sets what follows for a task that a node could not begin.
func (f *finisher) decide(s *State, x notBegun, now time.Time) {
	h := x.run.Header
	h.Avoid = x.avoid
	switch before := len(x.avoid); {
	case x.outcome.Final:
	case s.Faults.itsOwn(x, now):
		x.end()
	case s.othersFor(h, x.run.Holder):
	case s.Faults.drains(x.run.Holder): // its node took the task just before: the job may not be the reason
		x.outcome.Refused = queue.RefusedNow
	case f.restarted && now.Sub(f.Made) < f.Options.LeaseTTL:
		x.outcome.Refused = queue.RefusedNow // other nodes may still join
	default:
		x.outcome.NotFound = x.outcome.NotFound || s.Faults.anyProven(x, now)
		endRefused(x.outcome, x.run.Holder, before)
	}
}

// endRefused sets the outcome of a task that the last possible node could not begin, like the nodes before it.
func endRefused(o *queue.Outcome, node string, before int) {
	if o.Refused == queue.RefusedMachine {
		o.Refused = queue.RefusedNow
		return
	}
	if o.Final = true; before > 0 {
		o.Cause = fmt.Sprintf("none of its %d nodes could begin it; the last failure, on %s: %s", before+1, node, o.Cause)
	}
}

// refusedJobs reads the jobs of tasks that a node could not begin.
func (f *finisher) refusedJobs(ctx context.Context, results []queue.Result) (map[int64]*queue.Job, error) {
	var ids []int64
	for _, r := range results {
		if refuses(r) {
			ids = append(ids, r.JobID)
		}
	}
	slices.Sort(ids)
	jobs, err := f.Store.Jobs(ctx, queue.Query{IDs: slices.Compact(ids)})
	if err != nil {
		return nil, fmt.Errorf("read the jobs that nodes could not begin: %w", err)
	}
	byID := map[int64]*queue.Job{}
	for _, j := range jobs {
		byID[j.ID] = j
	}
	return byID, nil
}

// othersFor reports whether tasks of a job could go to a node other than this one.
func (s *State) othersFor(h queue.Header, node string) bool {
	a, must := s.RequestOf(h)
	c := s.Core.Cluster()
	return c.Empty().Ever(a, c.Except(must, []string{node}))
}

// refused removes an attempt that did not begin. Its run is nil if it was unknown.
func (f *finisher) refused(s *State, res *queue.Result, v queue.Verdict, now time.Time) {
	s.abort(res.Ref, now)
	f.watchers.publish(queue.Event{Job: res.JobID, Task: res.Task, At: now, Code: "refused", Text: res.Outcome.Cause, State: v.State})
}

// The longest texts of an outcome, in bytes. The stack of a handler that panicked is long.
const (
	maxCause  = 16 << 10
	maxSignal = 64
)

// readable fixes the texts of outcomes so that every store can keep them: handlers, agents, workers and bridges write
// any bytes. If a store could not keep a text, the engine would report it again and again, and the slot of the task
// would be lost.
func readable(results []queue.Result) []queue.Result {
	out := slices.Clone(results)
	for i := range out {
		o := &out[i].Outcome
		o.Cause, o.Signal = bounded.Text(o.Cause, maxCause), bounded.Text(o.Signal, maxSignal)
	}
	return out
}

// finish reports to the store how attempts ended. If ctx ends before the store has answered, the result is unknown.
func (f *finisher) finish(ctx context.Context, results []queue.Result) ([]queue.Verdict, error) {
	results = readable(results)
	reported := results
	defer f.overrides.setAside(ctx)
	f.ending.RLock()
	defer f.ending.RUnlock()
	if slices.ContainsFunc(results, refuses) {
		f.refusing.Lock()
		defer f.refusing.Unlock()
		var err error
		if results, err = f.weigh(ctx, results); err != nil {
			return nil, err
		}
	}
	runs := read(f.base, func(s *State) []*liveRun { return bound(s, results) })
	asked := time.Now()
	verdicts, err := f.record(ctx, results)
	if err != nil {
		f.releaser.doubt(ctx)
		return nil, err
	}
	now := time.Now()
	f.unkept.note(results, verdicts, now)
	f.Observer.Stored("finish", now.Sub(asked))
	return update2(f.base, func(s *State) ([]queue.Verdict, error) {
		for i, v := range verdicts {
			if errors.Is(v.Err, queue.ErrStaleAttempt) {
				s.end(results[i].Ref, now, now, false, queue.Outcome{}) // it is over in the store, so it is over here
			}
			if v.Err != nil {
				continue
			}
			o := results[i].Outcome
			if o.Refused != "" {
				countRefused(s, runs[i], o, reported[i].Outcome, now)
				f.refused(s, &results[i], v, now)
				continue
			}
			if r := runs[i]; r != nil && o.State != queue.Cancelled {
				s.Faults.hear(r)
				if o.State == queue.Succeeded {
					s.Faults.succeeded(r, now)
				}
			}
			noteEnd(&s.Ends, runs[i], ends.Of(o), now)
			f.finished(s, &results[i], now)
			s.stats.Finished++
			f.Observer.Ended(results[i])
			f.watchers.publish(queue.Event{Job: results[i].JobID, Task: results[i].Task, At: now, Code: "finished", Text: string(o.State)})
		}
		s.wakeUp()
		return verdicts, nil
	})
}

// record has the store end attempts. If the store refuses the call, record halves the results again and again, until it
// has isolated the ends that the store refuses. Their error is [unkept].
func (f *finisher) record(ctx context.Context, results []queue.Result) ([]queue.Verdict, error) {
	verdicts, err := f.Store.Finish(ctx, results)
	if err == nil || ctx.Err() != nil || !refusesEnds(err) {
		return verdicts, err
	}
	if len(results) == 1 {
		return []queue.Verdict{{Err: unkept{err}}}, nil
	}
	all := make([]queue.Verdict, 0, len(results))
	half := len(results) / 2
	for _, part := range [][]queue.Result{results[:half], results[half:]} {
		verdicts, err := f.record(ctx, part)
		if err != nil {
			f.releaser.doubt(ctx)
			verdicts = make([]queue.Verdict, len(part))
			for i := range verdicts {
				verdicts[i].Err = unkept{err}
			}
		}
		all = append(all, verdicts...)
	}
	return all, nil
}

// bound returns the runs of attempts. An end before the holder's last report that the attempt ran moves to that report,
// so that a wrong clock cannot make the charge smaller.
func bound(s *State, results []queue.Result) []*liveRun {
	runs := runsOf(s, results)
	for i, r := range runs {
		if ended := &results[i].Ended; r != nil && !ended.IsZero() && ended.Before(r.renewed) {
			*ended = r.renewed
		}
	}
	return runs
}

// runsOf returns the runs of attempts, nil for each unknown attempt. Callers look the runs up before the store learns
// how the attempts ended. Later, the next attempts might begin before the store's answer arrives, and news about their
// nodes would be lost.
func runsOf(s *State, results []queue.Result) []*liveRun {
	runs := make([]*liveRun, len(results))
	for i, res := range results {
		if r := s.Runs[taskID{res.JobID, res.Task}]; r != nil && r.Ref == res.Ref {
			runs[i] = r
		}
	}
	return runs
}

// finished removes the attempt of a result.
func (f *finisher) finished(s *State, res *queue.Result, now time.Time) {
	if r := s.Runs[taskID{res.JobID, res.Task}]; r != nil && r.Ref == res.Ref && !res.Began.IsZero() {
		f.applier.moveOn(s, r, queue.Run{Ref: res.Ref, Started: res.Began}, now)
	}
	s.end(res.Ref, now.Add(-usage.Late(res.Began, res.Ended, now)), now, res.Outcome.State != queue.Cancelled,
		res.Outcome)
}

// Finish reports how attempts ended. If another worker holds an attempt, its error is [queue.ErrStaleAttempt].
func (m *Member) Finish(ctx context.Context, results []queue.Result) ([]queue.Verdict, error) {
	refs := make([]queue.Ref, len(results))
	for i := range results {
		refs[i] = results[i].Ref
	}
	_, places, errs, err := m.held(ctx, refs)
	if err != nil {
		return nil, err
	}
	// A write in progress cannot be recalled: a caller that stops waiting would never learn that the slot is free.
	ctx = context.WithoutCancel(ctx)
	if errs == nil {
		return m.finisher.finish(ctx, results)
	}
	own, all := make([]queue.Result, len(places)), make([]queue.Verdict, len(results))
	for i, at := range places {
		own[i] = results[at]
	}
	verdicts, err := m.finisher.finish(ctx, own)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Err = errs[i]
	}
	for i, at := range places {
		all[at] = verdicts[i]
	}
	return all, nil
}

// Release returns attempts that the worker did not begin. Attempts that another worker holds stay.
func (m *Member) Release(ctx context.Context, refs []queue.Ref) error {
	own, _, _, err := m.held(ctx, refs)
	if err != nil || len(own) == 0 {
		return err
	}
	return m.finisher.releaser.release(context.WithoutCancel(ctx), own)
}

// Holds checks whether the worker holds each attempt: if another worker holds one, its error is
// [queue.ErrStaleAttempt]. Attempts that are over have no error here; the store refuses them. The result is nil if no
// attempt has an error. The result stays valid, because one node holds an attempt from its beginning to its end.
func (m *Member) Holds(ctx context.Context, refs []queue.Ref) ([]error, error) {
	errs, unknown := m.heldHere(refs)
	tasks := map[int64]map[queue.Ref]string{}
	for _, i := range unknown {
		ref := refs[i]
		if tasks[ref.JobID] == nil {
			holders, err := m.finisher.holdersOf(ctx, ref.JobID)
			if err != nil {
				return nil, fmt.Errorf("ask who holds job %d: %w", ref.JobID, err)
			}
			tasks[ref.JobID] = holders
		}
		if holder, known := tasks[ref.JobID][ref]; known && holder != m.name {
			if errs == nil {
				errs = make([]error, len(refs))
			}
			errs[i] = notHeld(ref, holder, m.name)
		}
	}
	return errs, nil
}

// heldHere checks attempts against the engine's runs, and returns the places of unknown attempts: these are over, or
// another server leased them.
func (m *Member) heldHere(refs []queue.Ref) (errs []error, unknown []int) {
	return read2(m.finisher.base, func(s *State) (errs []error, unknown []int) {
		for i, ref := range refs {
			r := s.Runs[taskID{ref.JobID, ref.Task}]
			switch {
			case r == nil || r.Ref != ref:
				unknown = append(unknown, i)
			case r.Holder != m.name:
				if errs == nil {
					errs = make([]error, len(refs))
				}
				errs[i] = notHeld(ref, r.Holder, m.name)
			}
		}
		return errs, unknown
	})
}

func notHeld(ref queue.Ref, holder, asks string) error {
	return fmt.Errorf("attempt %d of task %d of job %d is held by node %s, not by %s: %w", ref.Attempt, ref.Task, ref.JobID, holder, asks, queue.ErrStaleAttempt)
}

// holdersOf returns the nodes that hold the latest attempts of a job's tasks.
func (f *finisher) holdersOf(ctx context.Context, job int64) (map[queue.Ref]string, error) {
	tasks, err := f.Store.Tasks(ctx, job)
	if err != nil && !errors.Is(err, queue.ErrNotFound) { // if the job is gone, all its attempts are over
		return nil, err
	}
	holders := make(map[queue.Ref]string, len(tasks))
	for i := range tasks {
		holders[queue.Ref{JobID: job, Task: tasks[i].Index, Attempt: tasks[i].Attempt}] = tasks[i].Holder
	}
	return holders, nil
}

// held returns the attempts that the worker may report about, with their places, and the errors of the others, nil if
// there are none.
func (m *Member) held(ctx context.Context, refs []queue.Ref) (own []queue.Ref, places []int, errs []error, err error) {
	if errs, err = m.Holds(ctx, refs); err != nil || errs == nil {
		return refs, nil, nil, err
	}
	for i, ref := range refs {
		if errs[i] == nil {
			own, places = append(own, ref), append(places, i)
		}
	}
	m.finisher.Log.Warn("a worker reported attempts that another worker holds", "node", m.name, "attempts", len(refs)-len(own), "of", len(refs))
	return own, places, errs, nil
}
