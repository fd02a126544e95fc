package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// uncancelArray: the tasks of a cancelled array that had waited or were stopped wait again, and no others.
func uncancelArray(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Array, j.Retries, j.Backoff = "0-9", 1, time.Nanosecond }))[0]
	var ran []queue.Ref
	for range 7 {
		ran = append(ran, s.take(id).Ref)
	}
	final := failed
	final.Final = true
	s.finish(ran[0], ok)
	s.finish(ran[1], final)
	s.finish(ran[2], killed) // by another process: its job was not canceled
	s.finish(ran[3], failed) // it waits for another attempt
	s.must(s.alter(id, queue.VerbCancel))
	s.finish(ran[4], killed)
	s.finish(ran[5], ok)
	s.finish(ran[6], failed)
	j := s.state(id, queue.Failed)
	if j.Cause != "by ann" {
		s.t.Errorf("cause %q", j.Cause)
	}
	s.must(s.alter(id, queue.VerbUncancel))
	j = s.state(id, queue.Waiting)
	if j.Waiting != 5 || j.Succeeded != 2 || j.Failed != 2 || j.Cancelled != 1 || j.Cancel || !j.Ended.IsZero() || j.Started.IsZero() || !strings.Contains(j.Cause, "3") {
		s.t.Errorf("brought back: %+v", j)
	}
	s.counts("a")
	time.Sleep(time.Millisecond) // past the pause of the failed task
	left := map[int]bool{}
	for range 5 {
		l := s.take(id)
		left[l.Task] = true
		s.finish(l.Ref, ok)
	}
	if got := fmt.Sprint(left); got != "map[3:true 4:true 7:true 8:true 9:true]" {
		s.t.Errorf("it ran %s", got)
	}
	if j := s.state(id, queue.Failed); j.Succeeded != 7 || j.Failed != 2 || j.Cancelled != 1 {
		s.t.Errorf("at its end: %+v", j)
	}
}

// counts checks that the counters of a pool agree with its jobs.
func (s *suite) counts(pool string) {
	s.t.Helper()
	acc, is := s.Store.(queue.Accountant)
	if !is {
		return
	}
	u, err := acc.Usage(s.ctx)
	s.must(err)
	n, err := acc.Recount(s.ctx)
	s.must(err)
	if u.Pools[pool].Counters != n[pool] {
		s.t.Errorf("counted %+v, there are %+v", u.Pools[pool].Counters, n[pool])
	}
}

// uncancelWhileStopping: while tasks are being stopped, tasks that had waited wait again at once. Tasks that are
// being stopped wait again when they have stopped. A task that ends by itself keeps its result.
func uncancelWhileStopping(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Array = "0-4" }))[0]
	a, b, c := s.take(id), s.take(id), s.take(id)
	s.must(s.alter(id, queue.VerbCancel))
	s.finish(a.Ref, killed)
	s.must(s.alter(id, queue.VerbUncancel))
	if j := s.state(id, queue.Running); j.Waiting != 3 || j.Running != 2 || j.Cancelled != 0 || j.Cancel || j.Cause != "" {
		s.t.Errorf("brought back while it was stopped: %+v", j)
	}
	if v := s.finish(b.Ref, killed); !v.Again {
		s.t.Errorf("a task that was stopped does not wait again: %+v", v)
	}
	if v := s.finish(c.Ref, ok); v.Again {
		s.t.Errorf("a task that succeeded meanwhile runs again: %+v", v)
	}
	s.counts("a")
	for _, want := range []int{0, 1, 3, 4} {
		l := s.take(id)
		if l.Task != want {
			s.t.Errorf("task %d, want %d", l.Task, want)
		}
		s.finish(l.Ref, ok)
	}
	s.state(id, queue.Succeeded)

	one := s.submit(job())[0]
	l := s.take(one)
	s.must(s.alter(one, queue.VerbCancel))
	s.must(s.alter(one, queue.VerbUncancel))
	s.finish(l.Ref, killed)
	s.state(one, queue.Waiting)
	s.take(one)
}

// uncancelKeeps: a job comes back as it was, with its hold, and with the pause before its next attempt.
func uncancelKeeps(s *suite) {
	held := s.submit(job(func(j *queue.Job) { j.Held = true }))[0]
	s.must(s.alter(held, queue.VerbCancel))
	s.must(s.alter(held, queue.VerbUncancel))
	s.state(held, queue.Held)
	s.must(s.alter(held, queue.VerbRelease))
	s.finish(s.take(held).Ref, ok)

	slow := s.submit(job(func(j *queue.Job) { j.Retries, j.Backoff = 1, time.Hour }))[0]
	s.finish(s.take(slow).Ref, failed)
	s.must(s.alter(slow, queue.VerbCancel))
	s.must(s.alter(slow, queue.VerbUncancel))
	if g := s.lease(slow)[0]; g.Lease != nil || len(g.Waiting) != 1 || time.Until(g.Waiting[0].Begin) < 50*time.Minute {
		s.t.Errorf("during the pause: %+v", g)
	}
	if tasks, err := s.Tasks(s.ctx, slow); err != nil || tasks[0].Fails != 1 || tasks[0].State != queue.Waiting {
		s.t.Errorf("its task: %+v, %v", tasks, err)
	}
}

// uncancelGang: a gang comes back as a whole, unless one of its tasks has failed.
func uncancelGang(s *suite) {
	gang := func() (int64, []*queue.Lease) {
		id := s.submit(gangOf(3))[0]
		return id, s.takeGang(id, 3)
	}
	id, ranks := gang()
	s.finish(ranks[0].Ref, ok)
	s.must(s.alter(id, queue.VerbCancel))
	s.finish(ranks[1].Ref, killed)
	s.finish(ranks[2].Ref, killed)
	s.must(s.alter(id, queue.VerbUncancel))
	if j := s.state(id, queue.Waiting); j.Waiting != 3 || j.Succeeded != 0 || j.Cancelled != 0 {
		s.t.Errorf("the gang: %+v", j)
	}
	s.counts("a")
	for _, l := range s.takeGang(id, 3) {
		s.finish(l.Ref, ok)
	}
	s.state(id, queue.Succeeded)

	id, ranks = gang()
	s.must(s.alter(id, queue.VerbCancel))
	s.finish(ranks[0].Ref, killed)
	s.must(s.alter(id, queue.VerbUncancel))
	s.finish(ranks[1].Ref, killed)
	s.finish(ranks[2].Ref, ok)
	if j := s.state(id, queue.Waiting); j.Waiting != 3 {
		s.t.Errorf("the gang that was being stopped: %+v", j)
	}
	s.counts("a")

	id, ranks = gang()
	s.must(s.alter(id, queue.VerbCancel))
	s.finish(ranks[0].Ref, failed)
	s.finish(ranks[1].Ref, killed)
	s.finish(ranks[2].Ref, killed)
	s.refuses(id, "a failed task", "fairlead requeue")

	waiting := s.submit(gangOf(2))[0]
	s.must(s.alter(waiting, queue.VerbCancel))
	s.must(s.alter(waiting, queue.VerbUncancel))
	for _, l := range s.takeGang(waiting, 2) {
		s.finish(l.Ref, ok)
	}
}

// refuses checks that the cancellation of a job cannot be undone, and that the error says why.
func (s *suite) refuses(id int64, words ...string) {
	s.t.Helper()
	before := fmt.Sprintf("%+v", s.get(id))
	err := s.alter(id, queue.VerbUncancel)
	if !errors.Is(err, queue.ErrState) {
		s.t.Errorf("job %d: %v", id, err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			s.t.Errorf("the answer %q lacks %q", err, w)
		}
	}
	if after := fmt.Sprintf("%+v", s.get(id)); after != before {
		s.t.Errorf("the refused call changed it:\n%s\n%s", before, after)
	}
}

// uncancelRefuses: only a canceled job or task comes back.
func uncancelRefuses(s *suite) {
	waiting := s.submit(job())[0]
	s.refuses(waiting, "is not canceled")
	s.finish(s.take(waiting).Ref, killed)
	s.refuses(waiting, "nobody canceled it", "fairlead requeue")
	faster := s.submit(job())[0]
	l := s.take(faster)
	s.must(s.alter(faster, queue.VerbCancel))
	s.finish(l.Ref, ok)
	s.refuses(faster, "before it could be stopped")
	alone := s.submit(job(func(j *queue.Job) { j.Array = "0-1" }))[0]
	s.finish(s.take(alone).Ref, killed)
	l = s.take(alone)
	s.must(s.alter(alone, queue.VerbCancel))
	s.finish(l.Ref, ok)
	s.refuses(alone, "before it could be stopped")
}

// uncancelDependents: jobs that were canceled with a job come back with it, and wait for it.
func uncancelDependents(s *suite) {
	after := func(ids ...int64) int64 {
		return s.submit(job(func(j *queue.Job) {
			for _, id := range ids {
				j.After = append(j.After, queue.Dependency{Job: id, On: queue.OnOK})
			}
		}))[0]
	}
	first, second := s.submit(job())[0], s.submit(job())[0]
	both := after(first, second)
	chain, own, again := after(both), after(both), after(both)
	s.must(s.alter(own, queue.VerbCancel))
	for _, id := range []int64{first, second} {
		s.must(s.alter(id, queue.VerbCancel))
	}
	s.state(chain, queue.Cancelled)
	s.must(s.alter(again, queue.VerbRequeue))
	s.must(s.alter(again, queue.VerbCancel))
	s.refuses(both, fmt.Sprint("job ", first), "has ended as cancelled", "fairlead requeue")
	s.must(s.alter(first, queue.VerbUncancel))
	s.state(both, queue.Cancelled) // the second job kept it from starting
	s.must(s.alter(second, queue.VerbUncancel))
	for id, pending := range map[int64]int{both: 2, chain: 1} {
		if j := s.state(id, queue.Blocked); j.Pending != pending || j.Waiting != 1 || j.Cause != "" {
			s.t.Errorf("job %d: %+v", id, j)
		}
	}
	s.counts("a")
	s.state(own, queue.Cancelled)   // by its own user
	s.state(again, queue.Cancelled) // it was no longer blocked
	for _, id := range []int64{first, second, both, chain} {
		s.finish(s.take(id).Ref, ok)
	}

	// A job that was canceled itself while it was blocked comes back blocked by the dependencies that have not ended.
	done, open := s.submit(job())[0], s.submit(job())[0]
	last := after(done, open)
	s.must(s.alter(last, queue.VerbCancel))
	s.finish(s.take(done).Ref, ok)
	s.must(s.alter(last, queue.VerbUncancel))
	if j := s.state(last, queue.Blocked); j.Pending != 1 {
		s.t.Errorf("it waits for %d", j.Pending)
	}
	s.finish(s.take(open).Ref, ok)
	s.finish(s.take(last).Ref, ok)

	// A second end of a job that came back cancels its dependents again, and that cancellation can be undone
	// again.
	x := s.submit(job())[0]
	y := after(x)
	for range 2 {
		s.must(s.alter(x, queue.VerbCancel))
		s.state(y, queue.Cancelled)
		s.must(s.alter(x, queue.VerbUncancel))
		s.state(y, queue.Blocked)
	}
	s.finish(s.take(x).Ref, failed)
	s.state(y, queue.Cancelled)
	s.refuses(y, "has ended as failed")
}

// uncancelIsReported: the changes and the journal have the jobs that wait again.
func uncancelIsReported(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Array = "0-3" }))[0]
	s.finish(s.take(id).Ref, ok)
	s.must(s.alter(id, queue.VerbCancel))
	_, cursor, err := s.Changes(s.ctx, 0, 0)
	s.must(err)
	s.must(s.alter(id, queue.VerbUncancel))
	changes, _, err := s.Changes(s.ctx, cursor, 0)
	s.must(err)
	if len(changes) != 1 || changes[0].What != queue.Waited || len(changes[0].Waits) != 1 || changes[0].Waits[0].Tasks != 3 {
		s.t.Errorf("changes %+v", changes)
	}
	j, is := s.Store.(queue.Journal)
	if !is {
		return
	}
	events, err := j.Events(s.ctx, id)
	s.must(err)
	if last := events[len(events)-1]; last.Code != "uncancel" || last.Text != "uncancel: by ann" {
		s.t.Errorf("events %+v", events)
	}
}
