package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

func stopOf(l *queue.Lease, rule string, now time.Time) queue.Stopped {
	return queue.Stopped{Ref: l.Ref, Reason: why.Stop{
		At: now, Rule: rule, Job: l.JobID, Task: l.Task, Attempt: l.Attempt, User: "ann", Pool: "a", Node: "agent", Unit: "cpu",
		For: "b", Resource: "cpu", Running: 1, Goal: 3, Since: now.Add(-time.Minute), Owed: 120,
		From: "a", FromRunning: 7, FromGoal: 5, Together: 1, Width: 1, Seconds: 20, Lost: 20, Safe: now.Add(time.Hour),
	}}
}

func (s *suite) stop(stops ...queue.Stopped) []error {
	s.t.Helper()
	errs, err := s.StopRuns(s.ctx, stops)
	s.must(err)
	return errs
}

// stoppedRuns: an attempt that the scheduler stops still runs, and the feed notifies its holder. After its end the
// task waits again at once, and the attempt does not count toward the retries of the job.
func stoppedRuns(s *suite) {
	for _, array := range []string{"", "0-2"} {
		id := s.submit(job(func(j *queue.Job) { j.Array = array }))[0]
		l := s.take(id)
		_, cursor := s.changes(0)
		time.Sleep(20 * time.Second)
		x := stopOf(l, "min-share", time.Now())
		for _, err := range s.stop(x, x) { // the second stop finds the first
			s.must(err)
		}
		s.state(id, queue.Running)
		changes, _ := s.changes(cursor)
		if len(changes) != 1 || changes[0].What != queue.Stop || changes[0].Runs[0].Ref != l.Ref || !strings.Contains(changes[0].Reason, "min-share") {
			s.t.Fatalf("changes %+v", changes)
		}
		v := s.finish(l.Ref, queue.Outcome{State: queue.Cancelled, Cause: "stopped"})
		if v.Err != nil || !v.Again {
			s.t.Fatalf("verdict %+v", v)
		}
		next := s.take(id)
		if next.Attempt != 2 || next.Task != l.Task {
			s.t.Errorf("next %+v", next.Ref)
		}
		tasks, err := s.Tasks(s.ctx, id)
		s.must(err)
		if tasks[0].Fails != 0 || tasks[0].Losses != 0 || tasks[0].Stopped {
			s.t.Errorf("task %+v", tasks[0])
		}
		if v := s.finish(next.Ref, queue.Outcome{State: queue.Failed, ExitCode: 1}); v.Again {
			s.t.Error("a job without retries was tried again")
		}
		if err := s.stop(x)[0]; !errors.Is(err, queue.ErrStaleAttempt) {
			s.t.Errorf("stop of an attempt that is over: %v", err)
		}
	}
}

// stoppedTooLate: an attempt that ends by itself while it is being stopped keeps its result; a job that is canceled
// meanwhile is canceled.
func stoppedTooLate(s *suite) {
	for _, c := range []struct {
		outcome queue.State
		cancel  bool
		want    queue.State
	}{
		{queue.Succeeded, false, queue.Succeeded},
		{queue.Failed, false, queue.Failed},
		{queue.Cancelled, false, queue.Waiting},
		{queue.Cancelled, true, queue.Cancelled},
	} {
		id := s.submit(job())[0]
		l := s.take(id)
		s.must(s.stop(stopOf(l, "fair-share", time.Now()))[0])
		if c.cancel {
			s.must(s.alter(id, queue.VerbCancel))
		}
		s.finish(l.Ref, queue.Outcome{State: c.outcome})
		s.state(id, c.want)
	}
}

// stopsAreKept: the reasons of stops can be read, and a snapshot notifies the holder again.
func stopsAreKept(s *suite) {
	ids := s.submit(job(), job(func(j *queue.Job) { j.Array = "1-3" }))
	first, second := s.take(ids[0]), s.take(ids[1])
	began := time.Now()
	x := stopOf(first, "min-share", began)
	s.must(s.stop(x)[0])
	time.Sleep(time.Minute)
	y := stopOf(second, "rebalance", time.Now())
	s.must(s.stop(y)[0])
	for _, c := range []struct {
		q    queue.StopQuery
		want []queue.Stopped
	}{
		{queue.StopQuery{}, []queue.Stopped{x, y}},
		{queue.StopQuery{Job: ids[1]}, []queue.Stopped{y}},
		{queue.StopQuery{Since: began.Add(time.Second)}, []queue.Stopped{y}},
		{queue.StopQuery{Limit: 1}, []queue.Stopped{y}},
		{queue.StopQuery{Job: 99}, nil},
	} {
		got, err := s.Stops(s.ctx, c.q)
		s.must(err)
		if len(got) != len(c.want) {
			s.t.Fatalf("%+v: %d stops, want %d", c.q, len(got), len(c.want))
		}
		for i := range got {
			w := c.want[i]
			if got[i].Ref != w.Ref || !got[i].Reason.Safe.Equal(w.Reason.Safe) || got[i].Reason.Line() != w.Reason.Line() {
				s.t.Errorf("%+v: %+v, want %+v", c.q, got[i], w)
			}
		}
	}
	told := map[queue.Ref]bool{}
	_, err := s.Snapshot(s.ctx, func(c queue.Change) error {
		for _, r := range c.Runs {
			told[r.Ref] = told[r.Ref] || c.What == queue.Stop
		}
		return nil
	})
	s.must(err)
	if !told[first.Ref] || !told[second.Ref] {
		s.t.Errorf("the snapshot tells %v", told)
	}
}
