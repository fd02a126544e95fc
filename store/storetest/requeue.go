package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// requeuedDependent: a job is canceled while it waits for others, and is then requeued. It waits for no other jobs
// any more, and their ends do not affect it.
func requeuedDependent(s *suite) {
	for _, on := range []queue.DependsOn{queue.OnOK, queue.OnFailed} {
		first := s.submit(job())[0]
		second := s.submit(job(func(j *queue.Job) { j.After = []queue.Dependency{{Job: first, On: on}} }))[0]
		s.must(s.alter(second, queue.VerbCancel))
		s.must(s.alter(second, queue.VerbRequeue))
		s.state(second, queue.Waiting)
		s.finish(s.take(first).Ref, ok)
		if j := s.state(second, queue.Waiting); j.Pending != 0 {
			s.t.Errorf("it waits for %d others", j.Pending)
		}
		s.finish(s.take(second).Ref, ok)
		s.state(second, queue.Succeeded)
	}
}

// requeuedIsRemembered: the journal keeps when and how a job that waits again had started and ended.
func requeuedIsRemembered(s *suite) {
	j, is := s.Store.(queue.Journal)
	if !is {
		return
	}
	id := s.submit(job(func(j *queue.Job) { j.Array = "0-1" }))[0]
	a, b := s.take(id), s.take(id)
	time.Sleep(time.Millisecond)
	s.finish(a.Ref, ok)
	s.finish(b.Ref, failed)
	over := s.get(id)
	tasks, err := s.Tasks(s.ctx, id)
	s.must(err)
	time.Sleep(time.Millisecond)
	s.must(s.alter(id, queue.VerbRequeue))
	events, err := j.Events(s.ctx, id)
	s.must(err)
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprint(e.Task, " ", e.At.UnixNano(), " ", e.Code, " ", e.Text))
	}
	for i, end := range []string{"succeeded", "failed"} {
		k := &tasks[i]
		for at, line := range map[time.Time]string{k.Started: "started attempt 1 on agent", k.Ended: "finished " + end} {
			if want := fmt.Sprint(i, " ", at.UnixNano(), " ", line); !slices.Contains(got, want) {
				s.t.Errorf("%q is missing in %q", want, got)
			}
		}
	}
	if want := fmt.Sprint(-1, " ", over.Ended.UnixNano(), " ended failed: exit status 3 (tasks: 1 succeeded, 1 failed, 0 canceled)"); !slices.Contains(got, want) {
		s.t.Errorf("%q is missing in %q", want, got)
	}

	id = s.submit(job())[0]
	l := s.take(id)
	s.must(s.alter(id, queue.VerbCancel))
	s.finish(l.Ref, killed)
	s.must(s.alter(id, queue.VerbUncancel))
	events, err = j.Events(s.ctx, id)
	s.must(err)
	var codes []string
	for _, e := range events {
		codes = append(codes, e.Code)
	}
	if want := []string{"cancel", "started", "again", "ended", "uncancel"}; !slices.Equal(codes, want) {
		s.t.Errorf("events %q, want %q", codes, want)
	}
}

// startsAreRemembered: the journal keeps the time when an attempt began even after the next attempt, however
// the earlier one ended.
func startsAreRemembered(s *suite) {
	j, is := s.Store.(queue.Journal)
	if !is {
		return
	}
	for _, array := range []string{"", "7-8"} {
		id := s.submit(job(func(j *queue.Job) { j.Retries, j.Backoff, j.Array = 5, time.Nanosecond, array }))[0]
		var want []string
		for n, end := range []func(queue.Ref){
			func(r queue.Ref) { s.finish(r, failed) },
			func(r queue.Ref) { s.must(s.alter(id, queue.VerbRequeue)); s.finish(r, killed) },
			func(queue.Ref) { _, err := s.Expire(s.ctx, "agent"); s.must(err) },
			func(r queue.Ref) {
				s.must(s.alter(id, queue.VerbCancel))
				s.finish(r, killed)
				s.must(s.alter(id, queue.VerbUncancel))
			},
			func(queue.Ref) {},
		} {
			time.Sleep(time.Millisecond) // until the pause before the next is over
			l := s.take(id)
			if end(l.Ref); n < 4 {
				want = append(want, fmt.Sprint(l.Started.UnixNano(), " attempt ", n+1, " on agent"))
			}
		}
		events, err := j.Events(s.ctx, id)
		s.must(err)
		var got []string
		for _, e := range events {
			if e.Code == "started" {
				got = append(got, fmt.Sprint(e.At.UnixNano(), " ", e.Text))
			}
		}
		if !slices.Equal(got, want) {
			s.t.Errorf("array %q: started %q, want %q", array, got, want)
		}
	}
}
