package engine

import (
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/ends"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/usage"
)

// applier applies the changes of the store to the state.
type applier struct {
	*base
	makers *makers
	cursor int64 // of the last change that was applied; guarded by syncing
}

// applyAll applies changes in their order. A job that is withdrawn and waits again at once, e.g. with another priority,
// never leaves the core, so its pool keeps its place in the order.
func (a *applier) applyAll(s *State, all []queue.Change) {
	for i := 0; i < len(all); i++ {
		if i+1 < len(all) && remains(all[i], all[i+1]) {
			now := time.Now()
			s.Core.Exchange(s.JobOf(all[i].Job), s.waiting(all[i+1]), now)
			a.watchers.publish(eventOf(all[i]))
			a.watchers.publish(eventOf(all[i+1]))
			i++
			continue
		}
		a.apply(s, all[i])
	}
}

// remains reports whether a job that is withdrawn waits again in the same pool.
func remains(was, is queue.Change) bool {
	return was.What == queue.Withdrawn && is.What == queue.Waited && was.Job.ID == is.Job.ID && was.Job.Pool == is.Job.Pool
}

// waiting returns the waiting tasks of a job, for the core.
func (s *State) waiting(c queue.Change) []sched.Job {
	var all []sched.Job
	j := s.JobOf(c.Job)
	for _, w := range c.Waits {
		j.Tasks, j.Begin = w.Tasks, w.Begin
		all = append(all, j)
	}
	return all
}

// apply applies one change to the core and notifies the watchers.
func (a *applier) apply(s *State, c queue.Change) {
	now := time.Now()
	s.Core.Advance(now) // a pool that this creates counts as created now
	switch c.What {
	case queue.Waited:
		s.Arrivals.note(c.Job)
		a.makers.made(c.Job.Pool, c.Job.User)
		s.wait(c, now)
	case queue.Withdrawn:
		s.Core.Withdraw(s.JobOf(c.Job), now)
	case queue.Runs:
		a.adopt(s, c, now)
	case queue.Stop:
		for _, r := range c.Runs {
			if run := s.Runs[taskID{r.JobID, r.Task}]; run != nil && run.Ref == r.Ref {
				run.Stop = cmp.Or(c.Reason, "stopped")
				s.Core.Leave(run.run)
			}
		}
		s.stop(c.Runs, c.Reason)
	case queue.Lost:
		for _, r := range c.Runs {
			if run := s.Runs[taskID{r.JobID, r.Task}]; run != nil && run.Ref == r.Ref {
				noteEnd(&s.Ends, run, ends.Lost, now)
			}
			s.end(r.Ref, now, now, false, queue.Outcome{State: lost, Cause: c.Reason})
			s.stats.Lost++
			a.Observer.Lost(r.Ref)
		}
		s.stop(c.Runs, c.Reason)
	case queue.Progressed:
		for _, r := range c.Runs {
			if run := s.Runs[taskID{r.JobID, r.Task}]; run != nil && run.Ref == r.Ref {
				a.moveOn(s, run, r, now)
			}
		}
	case queue.Leased:
		a.leased(s, c, now)
	case queue.Ended, queue.Done:
		a.endedElsewhere(s, c.Runs, now)
	case queue.Changed:
		if c.Reason != levelsSetting {
			s.changed[c.Reason] = true
		}
	}
	a.watchers.publish(eventOf(c))
}

// wait adds waiting tasks to the core.
func (s *State) wait(c queue.Change, now time.Time) {
	for _, j := range s.waiting(c) {
		s.Core.Add(j, now)
	}
}

// alike returns the same number for jobs of one user and kind, whose tasks probably run for a similar time (see
// [sched.Job]). A collision of two numbers only makes a prediction worse.
func alike(h queue.Header) uint32 {
	sum := fnv.New32a()
	io.WriteString(sum, h.User+"\x00"+h.Kind)
	return max(1, sum.Sum32())
}

// JobOf converts a header to a job of the core.
func (s *State) JobOf(h queue.Header) sched.Job {
	// The core also knows the priorities that were configured when the job was submitted.
	known := s.Core.Read().Config().Priorities
	p := slices.IndexFunc(known, func(p sched.Priority) bool { return p.Name == h.Priority })
	if p < 0 {
		p, _ = s.Shares.Priority(s.Shares.DefaultPriority())
	}
	class := sched.Class(0) // number of the job's priority factors, under policies that use them
	if s.Core.Read().Ranks() {
		class = s.Core.Class(s.Shares.Factors(h))
	}
	return sched.Job{
		ID: h.ID, Pool: s.Core.Pool(h.Pool), Priority: p, MaxRunning: h.MaxRunning, Tasks: h.Tasks,
		Submitted: h.Submitted, Class: class, Limit: h.Limit, Alike: alike(h),
		Key: s.Core.KeyOf(s.AskOf(h)),
	}
}

// end removes a task that ended at an instant from the core, if the core knows the same attempt.
func (s *State) end(ref queue.Ref, ended, now time.Time, learn bool, how queue.Outcome) *liveRun {
	id := taskID{ref.JobID, ref.Task}
	r := s.Runs[id]
	if r == nil || r.Ref != ref {
		return nil
	}
	delete(s.Runs, id)
	s.countOut(r, usage.Within(ended, r.Started, now), now, learn, how)
	s.touch()
	return r
}

// forgetRun removes the attempt before ref, which is over in the store but whose end this engine has not learned yet.
// The caller replaces it by ref.
func (s *State) forgetRun(ref queue.Ref, now time.Time) {
	id := taskID{ref.JobID, ref.Task}
	old := s.Runs[id]
	if old == nil {
		return
	}
	delete(s.Runs, id)
	if old.Ref == ref {
		s.Core.Finish(old.run, now, false) // the attempt itself continues
		return
	}
	s.countOut(old, now, now, false, queue.Outcome{})
}

// abort removes a task from the core as if it had never started. A change of the store reports when it waits again.
func (s *State) abort(ref queue.Ref, now time.Time) {
	id := taskID{ref.JobID, ref.Task}
	if r := s.Runs[id]; r != nil && r.Ref == ref {
		delete(s.Runs, id)
		s.Core.Abort(r.run, now, false)
		s.touch()
	}
}

// adopt adds tasks that run already.
func (a *applier) adopt(s *State, c queue.Change, now time.Time) {
	j := s.JobOf(c.Job)
	for _, r := range c.Runs {
		m, node := s.Joined[r.Holder], s.nodeOf(r.Holder, now)
		j.Charge = cmp.Or(r.Charge, s.Core.Cluster().Width(j.Key))
		s.forgetRun(r.Ref, now)
		run := s.Core.Adopt(j, node, r.Started, now)
		s.Runs[taskID{r.JobID, r.Task}] = &liveRun{
			Ref: r.Ref, run: run, member: m, Holder: r.Holder, Pool: j.Pool, Header: c.Job, Started: r.Started, came: r.Started,
		}
		if r.Queued {
			s.Runs[taskID{r.JobID, r.Task}].came = c.Job.Submitted
			a.moveOn(s, s.Runs[taskID{r.JobID, r.Task}], r, now)
		}
	}
}

// leased adds the tasks that another server started.
func (a *applier) leased(s *State, c queue.Change, now time.Time) {
	delete(s.Others.doubts, c.Job.ID)
	for _, r := range c.Runs {
		id := taskID{r.JobID, r.Task}
		if old := s.Runs[id]; old != nil && old.Ref.Attempt >= r.Attempt {
			continue // a later attempt is known already
		}
		s.forgetRun(r.Ref, now)
		j := s.JobOf(c.Job)
		j.Tasks, j.Charge = 1, r.Charge
		s.Runs[id] = &liveRun{
			Ref: r.Ref, run: s.Core.Take(j, s.nodeOf(r.Holder, now), r.Started, now),
			Holder: r.Holder, Pool: j.Pool, Header: c.Job, Started: r.Started, came: c.Job.Submitted,
		}
		if r.Queued {
			a.moveOn(s, s.Runs[id], r, now)
		}
		a.watchers.publish(startedEvent(r, c.Job))
	}
}

// endedElsewhere removes the tasks that ended at another server.
func (a *applier) endedElsewhere(s *State, runs []queue.Run, now time.Time) {
	for _, r := range runs {
		known := s.Runs[taskID{r.JobID, r.Task}]
		switch {
		case known == nil || known.Ref != r.Ref:
		case r.Ended.IsZero():
			s.abort(r.Ref, now)
		default:
			a.moveOn(s, known, r, now)
			delete(s.Runs, taskID{r.JobID, r.Task})
			s.countOut(known, r.Ended, now, r.Learns, queue.Outcome{})
			s.touch()
		}
	}
}

// moveOn records that a run waits in another queueing system, or began there. It ignores late news that would set a run
// back to an earlier stage.
func (a *applier) moveOn(s *State, r *liveRun, to queue.Run, now time.Time) {
	switch {
	case to.Queued && !r.Queued && !r.begun:
		s.Core.Queue(r.run, now)
		r.Queued = true
	case !to.Queued && r.Queued:
		r.Started = usage.Within(to.Started, r.Started, now)
		s.Core.Begin(r.run, r.Started, now)
		r.Queued, r.begun = false, true
		to.Holder, to.Started = r.Holder, r.Started
		a.Observer.BeganThere(to, r.Header, r.came)
		a.watchers.publish(startedEvent(to, r.Header))
	default:
		return
	}
	s.touch()
}

// stop asks the holders of attempts to stop them.
func (s *State) stop(runs []queue.Run, why string) {
	byNode := map[*joinedNode][]queue.Ref{}
	for _, r := range runs {
		if m := s.Joined[r.Holder]; m != nil {
			byNode[m] = append(byNode[m], r.Ref)
		}
	}
	for m, refs := range byNode {
		m.worker.Stop(refs, why)
	}
}

// countOut removes a task from the core, and compares its end with the end that it would have had on a private cluster
// of its pool.
func (s *State) countOut(r *liveRun, ended, now time.Time, learn bool, how queue.Outcome) {
	learn = learn && !r.Queued
	if f := &s.Fairness; learn {
		width := float64(max(1, r.Header.Request[s.Core.Cluster().Unit()]))
		for id := r.Pool; id != sched.Root; id = s.Core.Read().Parent(id) {
			n := f.Of(s.Core, id)
			if n < 0 || int(id) >= len(f.slots) {
				continue
			}
			for len(f.Own) <= n {
				f.Own = append(f.Own, usage.OwnCluster{})
			}
			f.Own[n].End(f.slots[id], width, r.came, r.Started, ended)
		}
	}
	if learn {
		s.Lengths.Note(r.Pool, ended.Sub(r.Started))
	}
	s.Past.note(r, max(1, r.Header.Request[s.Core.Cluster().Unit()]), ended, how)
	s.Limits.note(s.Core, r, ended)
	s.Core.FinishAt(r.run, ended, now, learn)
}

// cameAt returns when a task began to wait for room. A task that waited for something else would not have run earlier
// on a private cluster of its pool. So three sorts of task count from their start: second attempts, tasks of a job with
// dependencies, and tasks of a job that limits its own tasks.
func cameAt(lease *queue.Lease) time.Time {
	j := lease.Job
	if lease.Attempt > 1 || len(j.After) > 0 || j.MaxRunning > 0 {
		return lease.Started
	}
	if j.Begin.After(j.Submitted) {
		return j.Begin
	}
	return j.Submitted
}
