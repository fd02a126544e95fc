package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// cancelWaiting cancels only the waiting tasks of a job.
func (s *suite) cancelWaiting(id int64) error {
	s.t.Helper()
	errs, err := s.Alter(s.ctx, []queue.Alteration{{Job: id, Verb: queue.VerbCancel, Waiting: true, By: "ann"}})
	s.must(err)
	return errs[0]
}

// arrayOfSix is a job of six tasks with a second attempt for each, at once.
func arrayOfSix() *queue.Job {
	return job(func(j *queue.Job) { j.Array, j.Retries, j.Backoff = "0-5", 1, time.Nanosecond })
}

// cancelOnlyWaiting: waiting tasks and tasks between two attempts never start. Running tasks continue, and a task that
// fails is not tried again. The job ends when the last of them has ended.
func cancelOnlyWaiting(s *suite) {
	id := s.submit(arrayOfSix())[0]
	again, bad, good := s.take(id), s.take(id), s.take(id)
	s.finish(again.Ref, failed)
	_, cursor, err := s.Changes(s.ctx, 0, 0)
	s.must(err)
	s.must(s.cancelWaiting(id))
	if j := s.state(id, queue.Running); j.Waiting != 0 || j.Running != 2 || j.Cancelled != 4 || j.Cancel ||
		j.Cause != "by ann" {
		s.t.Errorf("while its running tasks continue: %+v", j)
	}
	s.counts("a")
	changes, _, err := s.Changes(s.ctx, cursor, 0)
	s.must(err)
	if len(changes) != 1 || changes[0].What != queue.Withdrawn {
		s.t.Errorf("changes %+v", changes)
	}
	if g := s.lease(id)[0]; g.Lease != nil {
		s.t.Error("leased a canceled task")
	}
	if v := s.finish(bad.Ref, failed); v.Again {
		s.t.Error("a task that fails after the cancel is tried again")
	}
	s.finish(good.Ref, ok)
	j := s.state(id, queue.Failed)
	if j.Succeeded != 1 || j.Failed != 1 || j.Cancelled != 4 || !strings.Contains(j.Cause, "3") || j.Ended.IsZero() {
		s.t.Errorf("at its end: %+v", j)
	}
	calm := s.submit(arrayOfSix())[0]
	l := s.take(calm)
	s.must(s.cancelWaiting(calm))
	s.finish(l.Ref, ok)
	const end = "canceled by ann (tasks: 1 succeeded, 0 failed, 5 canceled)"
	if got := s.state(calm, queue.Cancelled).EndEvent().Text; got != end {
		s.t.Errorf("%q", got)
	}
	s.saysCancelWaiting(id, "cancel 4 waiting tasks: by ann")
}

// saysCancelWaiting checks the event of the cancel in the job's history.
func (s *suite) saysCancelWaiting(id int64, want string) {
	s.t.Helper()
	k, is := s.Store.(queue.Journal)
	if !is {
		return
	}
	events, err := k.Events(s.ctx, id)
	s.must(err)
	for _, e := range events {
		if e.Code == string(queue.VerbCancel) && e.Text == want {
			return
		}
	}
	s.t.Errorf("no event %q: %+v", want, events)
}

// cancelOnlyWaitingInterrupted: a task that continues runs again if it was interrupted without failing. Even then it is
// not tried again after a failure.
func cancelOnlyWaitingInterrupted(s *suite) {
	id := s.submit(arrayOfSix())[0]
	lost, given := s.leaseFor(time.Nanosecond, id)[0].Lease, s.take(id)
	s.must(s.cancelWaiting(id))
	time.Sleep(time.Millisecond) // past the lease
	_, err := s.Expire(s.ctx, "")
	s.must(err)
	_, err = s.Release(s.ctx, []queue.Ref{given.Ref})
	s.must(err)
	if j := s.state(id, queue.Waiting); j.Waiting != 2 || j.Cancelled != 4 {
		s.t.Errorf("interrupted: %+v", j)
	}
	s.counts("a")
	for range 2 {
		l := s.take(id)
		if l.Task != lost.Task && l.Task != given.Task {
			s.t.Errorf("task %d began", l.Task)
		}
		if v := s.finish(l.Ref, failed); v.Again {
			s.t.Error("it is tried again")
		}
	}
	s.state(id, queue.Failed)
	s.must(s.alter(id, queue.VerbRequeue))
	if j := s.state(id, queue.Waiting); j.Waiting != 6 {
		s.t.Errorf("requeued: %+v", j)
	}
	if v := s.finish(s.take(id).Ref, failed); !v.Again {
		s.t.Error("a requeued task has no second attempt")
	}
}

// cancelOnlyWaitingRefuses: without a running task the call is an ordinary cancel; without a waiting task it is
// refused.
func cancelOnlyWaitingRefuses(s *suite) {
	refused := func(id int64, want error, words string) {
		s.t.Helper()
		before := fmt.Sprintf("%+v", s.get(id))
		if err := s.cancelWaiting(id); !errors.Is(err, want) || !strings.Contains(err.Error(), words) {
			s.t.Errorf("job %d: %v", id, err)
		}
		if after := fmt.Sprintf("%+v", s.get(id)); after != before {
			s.t.Errorf("the refused call changed it:\n%s\n%s", before, after)
		}
	}
	waits := s.submit(arrayOfSix())[0]
	after := s.submit(job(func(j *queue.Job) { j.After = []queue.Dependency{{Job: waits, On: queue.OnOK}} }))[0]
	s.must(s.cancelWaiting(waits))
	if j := s.state(waits, queue.Cancelled); !j.Cancel || j.Cancelled != 6 {
		s.t.Errorf("it waited: %+v", j)
	}
	s.state(after, queue.Cancelled)
	refused(waits, queue.ErrState, "has ended (cancelled)")
	if err := s.cancelWaiting(999); !errors.Is(err, queue.ErrNotFound) {
		s.t.Error(err)
	}
	one := s.submit(job())[0]
	l := s.take(one)
	refused(one, queue.ErrState, "has no waiting task; to cancel all of it: fairlead cancel")
	s.must(s.alter(one, queue.VerbCancel))
	refused(one, queue.ErrState, "is being canceled")
	s.finish(l.Ref, killed)
	gang := s.submit(gangOf(2))[0]
	s.must(s.cancelWaiting(gang))
	s.state(gang, queue.Cancelled)
	gang = s.submit(gangOf(2))[0]
	s.takeGang(gang, 2)
	refused(gang, queue.ErrState, "has no waiting task")
	other := s.submit(job())[0]
	errs, err := s.Alter(s.ctx, []queue.Alteration{{Job: other, Verb: queue.VerbCancel, Waiting: true, By: "bob"}})
	s.must(err)
	if !errors.Is(errs[0], queue.ErrForbidden) {
		s.t.Errorf("another user: %v", errs[0])
	}
}

// cancelOnlyWaitingUndone: an uncancel brings back the waiting tasks, and the retries of the running tasks. It does so
// whether or not the job has ended, and even after a cancel of the rest.
func cancelOnlyWaitingUndone(s *suite) {
	id := s.submit(arrayOfSix())[0]
	alone, lost, runs := s.take(id), s.leaseFor(time.Nanosecond, id)[0].Lease, s.take(id)
	s.finish(alone.Ref, killed) // by another process
	s.must(s.cancelWaiting(id))
	time.Sleep(time.Millisecond) // past the lease
	_, err := s.Expire(s.ctx, "")
	s.must(err)
	s.must(s.alter(id, queue.VerbUncancel))
	if j := s.state(id, queue.Running); j.Waiting != 4 || j.Running != 1 || j.Cancelled != 1 || j.Cause != "" {
		s.t.Errorf("undone: %+v", j)
	}
	s.counts("a")
	if err := s.alter(id, queue.VerbUncancel); !errors.Is(err, queue.ErrState) {
		s.t.Errorf("a second time: %v", err)
	}
	for _, r := range []queue.Ref{runs.Ref, s.take(id).Ref} {
		if v := s.finish(r, failed); !v.Again || r.Task != runs.Task && r.Task != lost.Task {
			s.t.Errorf("task %d is not tried again: %+v", r.Task, v)
		}
	}

	both := s.submit(arrayOfSix())[0]
	l := s.take(both)
	s.must(s.cancelWaiting(both))
	s.must(s.alter(both, queue.VerbCancel)) // the rest
	s.finish(l.Ref, killed)
	s.state(both, queue.Cancelled)
	s.must(s.alter(both, queue.VerbUncancel))
	s.state(both, queue.Waiting)
	l = s.take(both)
	s.must(s.cancelWaiting(both))
	s.finish(l.Ref, ok)
	after := s.submit(job(func(j *queue.Job) { j.After = []queue.Dependency{{Job: both, On: queue.OnFailed}} }))[0]
	s.must(s.alter(both, queue.VerbUncancel))
	if j := s.state(both, queue.Waiting); j.Waiting != 5 || j.Succeeded != 1 {
		s.t.Errorf("ended and undone: %+v", j)
	}
	s.state(after, queue.Waiting)
	s.counts("a")
}
