package storetest

import (
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

func cancelJobs(s *suite) {
	waiting := s.submit(job())[0]
	s.must(s.alter(waiting, queue.VerbCancel))
	if j := s.state(waiting, queue.Cancelled); j.Cause != "by ann" || j.Ended.IsZero() {
		s.t.Errorf("canceled job %+v", j)
	}
	array := s.submit(job(func(j *queue.Job) { j.Array = "0-9" }))[0]
	a, b := s.take(array), s.take(array)
	s.must(s.alter(array, queue.VerbCancel))
	if j := s.state(array, queue.Running); j.Waiting != 0 || j.Running != 2 || !j.Cancel {
		s.t.Errorf("while its tasks are stopped: %+v", j)
	}
	if g := s.lease(array)[0]; g.Lease != nil {
		s.t.Error("leased a task of a canceled job")
	}
	s.finish(a.Ref, killed)
	s.finish(b.Ref, ok) // it ended before it could be stopped
	if j := s.state(array, queue.Cancelled); j.Cancelled != 9 || j.Succeeded != 1 {
		s.t.Errorf("afterwards: %+v", j)
	}
	retried := s.submit(job(func(j *queue.Job) { j.Retries = 5 }))[0]
	l := s.take(retried)
	s.must(s.alter(retried, queue.VerbCancel))
	s.finish(l.Ref, failed)
	if j := s.get(retried); !j.State.Ended() {
		s.t.Errorf("a canceled job is tried again: %+v", j)
	}
}

func holdAndRelease(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Array = "0-2" }))[0]
	l := s.take(id)
	s.must(s.alter(id, queue.VerbHold))
	if g := s.lease(id)[0]; g.Lease != nil {
		s.t.Error("leased a held job")
	}
	s.state(id, queue.Running)
	s.finish(l.Ref, ok)
	s.state(id, queue.Held)
	s.must(s.alter(id, queue.VerbRelease))
	s.state(id, queue.Waiting)
	s.take(id)
}

func requeueJobs(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Array = "0-1" }))[0]
	for range 2 {
		s.finish(s.take(id).Ref, failed)
	}
	s.state(id, queue.Failed)
	s.must(s.alter(id, queue.VerbRequeue))
	if j := s.state(id, queue.Waiting); j.Waiting != 2 || j.Failed != 0 || j.Cause != "" {
		s.t.Errorf("requeued: %+v", j)
	}
	l := s.take(id)
	if l.Attempt != 2 || l.Task != 0 {
		s.t.Errorf("lease %+v", l)
	}
	s.must(s.alter(id, queue.VerbRequeue))
	s.state(id, queue.Running)
	if v := s.finish(l.Ref, killed); !v.Again {
		s.t.Errorf("a task that was requeued while it ran does not wait again: %+v", v)
	}
	if j := s.state(id, queue.Waiting); j.Waiting != 2 {
		s.t.Errorf("requeued while running: %+v", j)
	}
	cancelled := s.submit(job(func(j *queue.Job) { j.Array = "0-3" }))[0]
	s.finish(s.take(cancelled).Ref, ok)
	s.must(s.alter(cancelled, queue.VerbCancel))
	s.must(s.alter(cancelled, queue.VerbRequeue))
	for i := range 4 {
		if l := s.take(cancelled); l.Task != i {
			s.t.Errorf("task %d, want %d", l.Task, i)
		}
	}
}

func alterRefuses(s *suite) {
	id := s.submit(job())[0]
	check := func(id int64, v queue.Verb, want error) {
		s.t.Helper()
		if err := s.alter(id, v); !errors.Is(err, want) {
			s.t.Errorf("%s: %v, want %v", v, err, want)
		}
	}
	check(999, queue.VerbCancel, queue.ErrNotFound)
	check(id, queue.VerbRelease, queue.ErrState)
	check(id, queue.VerbRequeue, queue.ErrState)
	check(id, "sing", queue.ErrInvalid)
	s.finish(s.take(id).Ref, ok)
	check(id, queue.VerbCancel, queue.ErrState)
	check(id, queue.VerbHold, queue.ErrState)
}

// after returns a job that waits for the ends of others.
func after(on queue.DependsOn, ids ...int64) *queue.Job {
	return job(func(j *queue.Job) {
		for _, id := range ids {
			j.After = append(j.After, queue.Dependency{Job: id, On: on})
		}
	})
}

func dependencies(s *suite) {
	a := s.submit(job(), job())
	ids := s.submit(after(queue.OnOK, a...), after(queue.OnFailed, a[0]), after(queue.OnAny, a[0]))
	chain := s.submit(after(queue.OnOK, ids[1]))[0]
	for _, id := range append(ids, chain) {
		s.state(id, queue.Blocked)
		if g := s.lease(id)[0]; g.Lease != nil {
			s.t.Errorf("leased job %d before its dependencies", id)
		}
	}
	s.finish(s.take(a[0]).Ref, ok)
	s.state(ids[0], queue.Blocked)
	s.state(ids[1], queue.Cancelled) // it waited for a failure
	s.state(chain, queue.Cancelled)  // it waited for a success of that job
	s.state(ids[2], queue.Waiting)
	s.finish(s.take(a[1]).Ref, ok)
	s.state(ids[0], queue.Waiting)
	s.take(ids[0])
	late := s.submit(after(queue.OnOK, a[0]))[0]
	s.state(late, queue.Waiting)
	subs, err := s.Submit(s.ctx, []*queue.Job{after(queue.OnFailed, a[0])})
	s.must(err)
	if !errors.Is(subs[0].Err, queue.ErrInvalid) {
		s.t.Errorf("a dependency that can never be met: %+v", subs[0])
	}
}

// changes reads everything after a cursor.
func (s *suite) changes(cursor int64) ([]queue.Change, int64) {
	s.t.Helper()
	var all []queue.Change
	for {
		c, next, err := s.Changes(s.ctx, cursor, 3)
		s.must(err)
		if len(c) == 0 {
			return all, cursor
		}
		all, cursor = append(all, c...), next
	}
}

func snapshotAndChanges(s *suite) {
	before := s.submit(job(), job(func(j *queue.Job) { j.Array = "0-4" }), job(func(j *queue.Job) { j.Held = true }))
	s.take(before[1])
	var snap []queue.Change
	cursor, err := s.Snapshot(s.ctx, func(c queue.Change) error { snap = append(snap, c); return nil })
	s.must(err)
	what := func(changes []queue.Change) (w []queue.What) {
		for _, c := range changes {
			w = append(w, c.What)
		}
		return w
	}
	if !slices.Equal(what(snap), []queue.What{queue.Waited, queue.Runs, queue.Waited}) {
		s.t.Fatalf("snapshot %+v", snap)
	}
	if w := snap[2]; w.Job.ID != before[1] || w.Waits[0].Tasks != 4 || w.Job.Tasks != 5 || w.Job.Pool != "a" {
		s.t.Errorf("snapshot of the array: %+v", w)
	}
	if r := snap[1].Runs; len(r) != 1 || r[0].Holder != "agent" || r[0].Attempt != 1 {
		s.t.Errorf("snapshot of the running tasks: %+v", r)
	}
	id := s.submit(job(func(j *queue.Job) { j.Retries = 1 }))[0]
	l := s.take(id)
	s.finish(l.Ref, failed)
	s.must(s.alter(id, queue.VerbHold))
	s.must(s.alter(before[2], queue.VerbRelease))
	s.must(s.alter(before[1], queue.VerbCancel))
	_, err = s.Expire(s.ctx, "agent")
	s.must(err)
	got, _ := s.changes(cursor)
	want := []queue.What{
		queue.Waited,                // submitted
		queue.Waited,                // failed, again
		queue.Withdrawn,             // held
		queue.Waited,                // released
		queue.Withdrawn, queue.Stop, // cancelled while a task runs
		queue.Lost, queue.Done, // the agent was lost, and the task with it
	}
	if !slices.Equal(what(got), want) {
		s.t.Errorf("changes %v, want %v: %+v", what(got), want, got)
	}
	if again := got[1]; len(again.Waits) != 1 || again.Waits[0].Begin.IsZero() || again.Waits[0].Tasks != 1 {
		s.t.Errorf("again %+v", again)
	}
	if _, _, err := s.Changes(s.ctx, 1<<60, 1); !errors.Is(err, queue.ErrBehind) {
		s.t.Errorf("an impossible cursor: %v", err)
	}
}

// snapshotStops: a pending stop is not forgotten with the feed.
func snapshotStops(s *suite) {
	ids := s.submit(job(), job(), job())
	for i, id := range ids {
		s.take(id)
		if i > 0 {
			s.must(s.alter(id, []queue.Verb{queue.VerbCancel, queue.VerbRequeue}[i-1]))
		}
	}
	stops := map[int64]string{}
	_, err := s.Snapshot(s.ctx, func(c queue.Change) error {
		if c.What == queue.Stop && len(c.Runs) == 1 && c.Runs[0].Attempt == 1 {
			stops[c.Job.ID] = c.Reason
		}
		return nil
	})
	s.must(err)
	if want := map[int64]string{ids[1]: "by ann", ids[2]: "requeued"}; !maps.Equal(stops, want) {
		s.t.Errorf("a snapshot has stops %v, want %v", stops, want)
	}
}

func notifyWakes(s *suite) {
	n, is := s.Store.(queue.Notifier)
	if !is {
		s.t.Skip("the store does not notify")
	}
	c := make(chan struct{}, 1)
	stop := n.Notify(c)
	s.submit(job())
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		s.t.Fatal("not woken")
	}
	stop()
	s.submit(job())
	select {
	case <-c:
		s.t.Fatal("woken after stop")
	default:
	}
}

func usageIsCharged(s *suite) {
	acc, is := s.Store.(queue.Accountant)
	if !is {
		s.t.Skip("the store keeps no accounts")
	}
	s.must(acc.SetHalfLife(s.ctx, time.Hour))
	id := s.submit(job(func(j *queue.Job) { j.Request = queue.Amounts{"cpu": 3} }))[0]
	l := s.take(id)
	time.Sleep(20 * time.Millisecond)
	s.finish(l.Ref, ok)
	tasks, err := s.Tasks(s.ctx, id)
	s.must(err)
	ran := tasks[0].Ended.Sub(tasks[0].Started).Seconds()
	u, err := acc.Usage(s.ctx)
	s.must(err)
	a := u.Pools["a"]
	near := func(what string, got, want float64) {
		s.t.Helper()
		if math.Abs(got-want) > 0.05*want {
			s.t.Errorf("%s %v, want about %v", what, got, want)
		}
	}
	near("used", a.Used, 3*ran)
	near("total", a.Total, 3*ran)
	near("mean", a.Mean, ran)
	near("seen", a.Seen, 3)
	if u.HalfLife != time.Hour || a.Ended != 1 || a.Waiting != 0 || a.Running != 0 {
		s.t.Errorf("accounts %+v", u)
	}
	s.must(acc.SetHalfLife(s.ctx, 10*time.Millisecond))
	time.Sleep(30 * time.Millisecond)
	u, err = acc.Usage(s.ctx)
	s.must(err)
	if got := u.Pools["a"].Used; got > 3*ran/4 {
		s.t.Errorf("after three half-lives %v of %v is left", got, 3*ran)
	}
	if got := u.Pools["a"].Total; math.Abs(got-3*ran) > 0.05*ran {
		s.t.Errorf("the total decayed to %v", got)
	}
}

func countersAgree(s *suite) {
	acc, is := s.Store.(queue.Accountant)
	if !is {
		s.t.Skip("the store keeps no counters")
	}
	ids := s.submit(job(func(j *queue.Job) { j.Array = "0-9" }), job(func(j *queue.Job) { j.Pool = "b" }), job())
	l := s.take(ids[0])
	s.take(ids[0])
	s.finish(l.Ref, ok)
	s.take(ids[1])
	s.must(s.alter(ids[2], queue.VerbCancel))
	u, err := acc.Usage(s.ctx)
	s.must(err)
	counted, err := acc.Recount(s.ctx)
	s.must(err)
	want := map[string]queue.Counters{"a": {Waiting: 8, Running: 1}, "b": {Running: 1}}
	for pool, c := range want {
		if u.Pools[pool].Counters != c || counted[pool] != c {
			s.t.Errorf("pool %s: counters %+v, recount %+v, want %+v", pool, u.Pools[pool].Counters, counted[pool], c)
		}
	}
}

func eventsAreKept(s *suite) {
	j, is := s.Store.(queue.Journal)
	if !is {
		s.t.Skip("the store keeps no journal")
	}
	id := s.submit(job())[0]
	s.must(s.alter(id, queue.VerbHold))
	s.must(s.alter(id, queue.VerbRelease))
	s.take(id)
	_, err := s.Expire(s.ctx, "agent")
	s.must(err)
	s.must(j.Record(s.ctx, []queue.Event{{Job: id, Task: -1, At: time.Now(), Code: "share.behind", Text: "x"}}))
	events, err := j.Events(s.ctx, id)
	s.must(err)
	var codes []string
	for _, e := range events {
		codes = append(codes, e.Code)
		if e.Job != id || e.At.IsZero() || e.Text == "" {
			s.t.Errorf("event %+v", e)
		}
	}
	if !slices.Equal(codes, []string{"hold", "release", "started", "lost", "share.behind"}) {
		s.t.Errorf("events %v", codes)
	}
}

func settingsAreKept(s *suite) {
	k, is := s.Store.(queue.Settings)
	if !is {
		s.t.Skip("the store keeps no settings")
	}
	s.must(k.Set(s.ctx, "a", "1"))
	s.must(k.Set(s.ctx, "b", "2"))
	s.must(k.Set(s.ctx, "a", "3"))
	s.must(k.Set(s.ctx, "b", ""))
	got, err := k.Settings(s.ctx)
	s.must(err)
	if len(got) != 1 || got["a"] != "3" {
		s.t.Errorf("settings %v", got)
	}
}

func closedStore(s *suite) {
	s.must(s.Close())
	if _, err := s.Submit(s.ctx, []*queue.Job{job()}); !errors.Is(err, queue.ErrClosed) {
		s.t.Errorf("submit into a closed store: %v", err)
	}
	if _, err := s.Jobs(s.ctx, queue.Query{}); !errors.Is(err, queue.ErrClosed) {
		s.t.Errorf("query of a closed store: %v", err)
	}
	s.must(s.Close())
}
