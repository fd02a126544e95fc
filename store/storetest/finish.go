package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// finishRefuses: a result that is not a valid end of an attempt changes nothing, in any state of the job, and does not
// affect the other results of the call.
func finishRefuses(s *suite) {
	for _, array := range []string{"", "0-2"} {
		id := s.submit(job(func(j *queue.Job) { j.Array = array }))[0]
		other := s.submit(job())[0]
		l, good := s.take(id), s.take(other)
		for _, o := range []queue.Outcome{{State: queue.Succeeded, Refused: queue.RefusedUser}, {State: queue.Failed, Refused: "x"}} {
			if err := s.finish(l.Ref, o).Err; !errors.Is(err, queue.ErrInvalid) {
				s.t.Errorf("outcome %+v: %v", o, err)
			}
		}
		for _, state := range []queue.State{"", "done", queue.Running, queue.Waiting, queue.Held, queue.Blocked} {
			if err := s.finish(l.Ref, queue.Outcome{State: state}).Err; !errors.Is(err, queue.ErrInvalid) {
				s.t.Errorf("outcome %q: %v", state, err)
			}
			s.state(id, queue.Running)
		}
		tasks, err := s.Tasks(s.ctx, id)
		s.must(err)
		if len(tasks) == 0 || tasks[0].State != queue.Running || !tasks[0].Ended.IsZero() {
			s.t.Errorf("tasks %+v", tasks)
		}
		v, err := s.Finish(s.ctx, []queue.Result{{Ref: l.Ref}, {Ref: good.Ref, Outcome: ok}, {Ref: l.Ref, Outcome: ok}})
		s.must(err)
		if !errors.Is(v[0].Err, queue.ErrInvalid) || v[1].Err != nil || v[2].Err != nil {
			s.t.Errorf("verdicts %+v", v)
		}
		s.state(other, queue.Succeeded)
	}
}

func finishEndsTheJob(s *suite) {
	ids := s.submit(job(), job(), job())
	for i, o := range []queue.Outcome{ok, failed, killed} {
		l := s.take(ids[i])
		o.CPU, o.MaxRSS = 1500*time.Millisecond, 1<<20
		if v := s.finish(l.Ref, o); v.Err != nil || v.State != o.State || v.Again {
			s.t.Errorf("verdict %+v, want %s", v, o.State)
		}
		j := s.state(ids[i], o.State)
		if j.Ended.IsZero() || j.Running != 0 || j.Waiting != 0 {
			s.t.Errorf("job %+v", j)
		}
		tasks, err := s.Tasks(s.ctx, ids[i])
		s.must(err)
		if len(tasks) != 1 || tasks[0].Outcome != o || tasks[0].State != o.State || tasks[0].Holder != "agent" {
			s.t.Errorf("tasks %+v, want outcome %+v", tasks, o)
		}
	}
	if j := s.get(ids[1]); !strings.Contains(j.Cause, "3") {
		s.t.Errorf("cause %q does not tell the exit status", j.Cause)
	}
	if _, err := s.Tasks(s.ctx, 999); !errors.Is(err, queue.ErrNotFound) {
		s.t.Errorf("tasks of an unknown job: %v", err)
	}
}

func staleAttempts(s *suite) {
	id := s.submit(job())[0]
	first := s.take(id).Ref
	_, err := s.Expire(s.ctx, "agent")
	s.must(err)
	second := s.take(id).Ref
	if second.Attempt <= first.Attempt {
		s.t.Fatalf("attempt %d after %d", second.Attempt, first.Attempt)
	}
	stale := func(what string, err error) {
		s.t.Helper()
		if !errors.Is(err, queue.ErrStaleAttempt) {
			s.t.Errorf("%s of a stale attempt: %v", what, err)
		}
	}
	stale("finish", s.finish(first, ok).Err)
	errs, err := s.Renew(s.ctx, []queue.Ref{first, second}, ttl)
	s.must(err)
	stale("renew", errs[0])
	s.must(errs[1])
	errs, err = s.Release(s.ctx, []queue.Ref{first})
	s.must(err)
	stale("release", errs[0])
	s.state(id, queue.Running)
	if v := s.finish(second, ok); v.Err != nil {
		s.t.Fatal(v.Err)
	}
	stale("second finish", s.finish(second, failed).Err)
	s.state(id, queue.Succeeded)
	if err := s.finish(queue.Ref{JobID: 999, Attempt: 1}, ok).Err; !errors.Is(err, queue.ErrNotFound) && !errors.Is(err, queue.ErrStaleAttempt) {
		s.t.Errorf("finish of an unknown job: %v", err)
	}
}

func failureIsTriedAgain(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Retries, j.Backoff = 2, time.Nanosecond }))[0]
	for try := 1; try <= 3; try++ {
		l := s.take(id)
		if l.Attempt != try {
			s.t.Fatalf("attempt %d, want %d", l.Attempt, try)
		}
		if v := s.finish(l.Ref, failed); v.Again != (try < 3) {
			s.t.Fatalf("try %d: %+v", try, v)
		}
		time.Sleep(time.Millisecond) // past the pause of a nanosecond, on any clock
	}
	s.state(id, queue.Failed)
	hopeless := s.submit(job(func(j *queue.Job) { j.Retries = 5 }))[0]
	final := failed
	final.Final = true
	if v := s.finish(s.take(hopeless).Ref, final); v.Again {
		s.t.Errorf("a failure that no further try would mend: %+v", v)
	}
	s.state(hopeless, queue.Failed)
	slow := s.submit(job(func(j *queue.Job) { j.Retries, j.Backoff = 1, time.Hour }))[0]
	s.finish(s.take(slow).Ref, failed)
	if g := s.lease(slow)[0]; g.Lease != nil || len(g.Waiting) != 1 || time.Until(g.Waiting[0].Begin) < 50*time.Minute {
		s.t.Errorf("during the pause: %+v", g)
	}
}

// holderChooses: the holder decides when the next attempt begins. A failure counts toward the retries of its job, a
// postponement does not, and an outcome without a next attempt names no pause.
func holderChooses(s *suite) {
	in := func(state queue.State, pause time.Duration) queue.Outcome {
		return queue.Outcome{State: state, Next: &pause}
	}
	waits := func(id int64, what string, least, most time.Duration) {
		s.t.Helper()
		g := s.lease(id)[0]
		if g.Lease != nil || len(g.Waiting) != 1 {
			s.t.Fatalf("%s: %+v", what, g)
		}
		if d := time.Until(g.Waiting[0].Begin); d < least || d > most {
			s.t.Errorf("%s: the next attempt begins in %v, want %v to %v", what, d, least, most)
		}
	}
	id := s.submit(job(func(j *queue.Job) { j.Retries, j.Backoff = 1, time.Nanosecond }))[0]
	for range 3 { // more often than its retries allow
		if v := s.finish(s.take(id).Ref, in(queue.Cancelled, 0)); v.Err != nil || !v.Again {
			s.t.Fatalf("put off: %+v", v)
		}
	}
	l := s.take(id)
	for _, o := range []queue.Outcome{in(queue.Succeeded, 0), in(queue.Failed, -1), in(queue.Failed, queue.MaxLimit+1),
		{State: queue.Failed, Final: true, Next: new(time.Duration)}} {
		if err := s.finish(l.Ref, o).Err; !errors.Is(err, queue.ErrInvalid) {
			s.t.Errorf("outcome %+v: %v", o, err)
		}
	}
	if v := s.finish(l.Ref, in(queue.Failed, time.Hour)); !v.Again {
		s.t.Fatalf("failed: %+v", v)
	}
	waits(id, "after a failure", 55*time.Minute, time.Hour+time.Minute)
	late := s.submit(job())[0]
	if v := s.finish(s.take(late).Ref, in(queue.Cancelled, 24*time.Hour)); !v.Again {
		s.t.Fatalf("put off for a day: %+v", v)
	}
	waits(late, "put off for a day", 23*time.Hour, 25*time.Hour)
	tasks, err := s.Tasks(s.ctx, late)
	if err != nil || len(tasks) != 1 || tasks[0].Fails != 0 || tasks[0].Outcome.Next != nil {
		s.t.Errorf("put off for a day: tasks %+v, %v", tasks, err)
	}
	over := s.submit(job())[0]
	if v := s.finish(s.take(over).Ref, in(queue.Failed, time.Hour)); v.Again {
		s.t.Errorf("its job allows no second try: %+v", v)
	}
	s.state(over, queue.Failed)
}

func releaseReturns(s *suite) {
	id := s.submit(job())[0]
	l := s.take(id)
	errs, err := s.Release(s.ctx, []queue.Ref{l.Ref})
	s.must(err)
	s.must(errs[0])
	s.state(id, queue.Waiting)
	if again := s.take(id); again.Attempt == l.Attempt {
		s.t.Error("the attempt number was used again")
	}
}

func arrayTasks(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Array = "3,10-30:10" }))[0]
	numbers := []int{}
	for i := range 4 {
		l := s.take(id)
		if l.Task != i {
			s.t.Errorf("task %d, want %d", l.Task, i)
		}
		numbers = append(numbers, l.Number)
		o := ok
		if i == 2 {
			o = failed
		}
		if v := s.finish(l.Ref, o); (v.State == queue.Failed) != (i == 3) {
			s.t.Errorf("after task %d the job is %s", i, v.State)
		}
	}
	if !slices.Equal(numbers, []int{3, 10, 20, 30}) {
		s.t.Errorf("numbers %v", numbers)
	}
	if j := s.state(id, queue.Failed); j.Succeeded != 3 || j.Failed != 1 {
		s.t.Errorf("job %+v", j)
	}
}
