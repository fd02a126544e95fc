package storetest

import (
	"errors"
	"math"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// progress reports how far an attempt is in another queueing system.
func (s *suite) progress(ref queue.Ref, began time.Time) {
	s.t.Helper()
	errs, err := s.Progress(s.ctx, []queue.Progress{{Ref: ref, Began: began}})
	s.must(errors.Join(append(errs, err)...))
}

// only returns the only task of a job.
func (s *suite) only(id int64) queue.Task {
	s.t.Helper()
	tasks, err := s.Tasks(s.ctx, id)
	s.must(err)
	if len(tasks) != 1 {
		s.t.Fatalf("tasks %+v", tasks)
	}
	return tasks[0]
}

// had checks the usage of a pool, and how many of its tasks ended.
func (s *suite) had(pool string, want float64, ended int64) {
	s.t.Helper()
	acc, is := s.Store.(queue.Accountant)
	if !is {
		return
	}
	u, err := acc.Usage(s.ctx)
	s.must(err)
	if a := u.Pools[pool]; math.Abs(a.Used-want) > 1e-3+0.01*want || math.Abs(a.Total-want) > 1e-3+0.01*want || a.Ended != ended || a.Running != 0 {
		s.t.Errorf("%s has %+v, want %v used, %d ended", pool, a, want, ended)
	}
}

// runsIn returns the runs of a job in a snapshot and in the changes.
func (s *suite) runsIn(id int64, what queue.What) (runs []queue.Run) {
	s.t.Helper()
	take := func(c queue.Change) error {
		if c.Job.ID == id && c.What == what {
			runs = append(runs, c.Runs...)
		}
		return nil
	}
	if what == queue.Runs {
		_, err := s.Snapshot(s.ctx, take)
		s.must(err)
		return runs
	}
	changes, _, err := s.Changes(s.ctx, 0, 0)
	s.must(err)
	for _, c := range changes {
		s.must(take(c))
	}
	return runs
}

// waitsElsewhere: a task in another queueing system is charged from its beginning there to its end; a snapshot and the
// changes show its progress.
func waitsElsewhere(s *suite) {
	if acc, is := s.Store.(queue.Accountant); is {
		s.must(acc.SetHalfLife(s.ctx, 0))
	}
	id := s.submit(job(func(j *queue.Job) { j.Request = queue.Amounts{"cpu": 2} }))[0]
	l := s.leaseFor(time.Hour, id)[0].Lease
	s.progress(l.Ref, time.Time{})
	s.progress(l.Ref, time.Time{})
	if j := s.state(id, queue.Queued); j.Running != 1 || j.Queued != 1 || j.Waiting != 0 || !j.Started.IsZero() {
		s.t.Errorf("while it waits there: %+v", j)
	}
	if k := s.only(id); !k.Queued || k.State != queue.Running || !k.Started.Equal(l.Started) {
		s.t.Errorf("while it waits there: %+v", k)
	}
	if runs := s.runsIn(id, queue.Runs); len(runs) != 1 || !runs[0].Queued {
		s.t.Errorf("the snapshot tells %+v", runs)
	}
	if jobs, err := s.Jobs(s.ctx, queue.Query{States: []queue.State{queue.Queued}}); err != nil || len(jobs) != 1 {
		s.t.Errorf("%d jobs are queued (%v)", len(jobs), err)
	}
	errs, err := s.Renew(s.ctx, []queue.Ref{l.Ref}, time.Hour)
	s.must(errors.Join(append(errs, err)...))
	time.Sleep(10 * time.Minute)
	began := time.Now().Add(-2 * time.Minute)
	s.progress(l.Ref, began)
	s.progress(l.Ref, began.Add(time.Minute)) // it begins only once
	if j := s.state(id, queue.Running); j.Running != 1 || j.Queued != 0 || !j.Started.Equal(began) {
		s.t.Errorf("when it began: %+v", j)
	}
	if runs := s.runsIn(id, queue.Runs); len(runs) != 1 || runs[0].Queued || !runs[0].Started.Equal(began) {
		s.t.Errorf("the snapshot tells %+v", runs)
	}
	if runs := s.runsIn(id, queue.Progressed); len(runs) != 2 || !runs[0].Queued || runs[1].Queued || !runs[1].Started.Equal(began) {
		s.t.Errorf("the changes tell %+v", runs)
	}
	time.Sleep(10 * time.Minute)
	ended := time.Now().Add(-5 * time.Minute)
	v, err := s.Finish(s.ctx, []queue.Result{{Ref: l.Ref, Outcome: ok, Ended: ended}})
	s.must(errors.Join(err, v[0].Err))
	if j := s.state(id, queue.Succeeded); !j.Ended.Equal(ended) || !j.Started.Equal(began) {
		s.t.Errorf("when it has ended: %+v", j)
	}
	if k := s.only(id); !k.Ended.Equal(ended) || k.Queued {
		s.t.Errorf("when it has ended: %+v", k)
	}
	s.had("a", 2*7*60, 1)
	// A task whose end is reported now, without an earlier report.
	id = s.submit(job(func(j *queue.Job) { j.Pool = "b" }))[0]
	l = s.leaseFor(time.Hour, id)[0].Lease
	s.progress(l.Ref, time.Time{})
	time.Sleep(10 * time.Minute)
	s.progress(l.Ref, time.Now())
	time.Sleep(time.Minute)
	s.finish(l.Ref, ok)
	s.had("b", 60, 1)
}

// neverBeganElsewhere: a task that never began there received no service, however it ends, and waits as before if it
// waits again.
func neverBeganElsewhere(s *suite) {
	queued := func(pool string) queue.Ref {
		id := s.submit(job(func(j *queue.Job) { j.Pool = pool }))[0]
		ref := s.leaseFor(5*time.Minute, id)[0].Lease.Ref
		s.progress(ref, time.Time{})
		return ref
	}
	cancelled, given, lost, told := queued("cancelled"), queued("given"), queued("lost"), queued("told")
	time.Sleep(4 * time.Minute)
	s.finish(cancelled, killed)
	if k := s.only(cancelled.JobID); !k.Queued {
		s.t.Errorf("it never began: %+v", k)
	}
	if j := s.state(cancelled.JobID, queue.Cancelled); !j.Started.IsZero() || j.Queued != 0 {
		s.t.Errorf("it never began: %+v", j)
	}
	s.had("cancelled", 0, 1)
	errs, err := s.Release(s.ctx, []queue.Ref{given})
	s.must(errors.Join(append(errs, err)...))
	s.state(given.JobID, queue.Waiting)
	s.had("given", 0, 0)
	// The report that it ended also says when it began.
	v, err := s.Finish(s.ctx, []queue.Result{{Ref: told, Outcome: ok, Began: time.Now().Add(-time.Minute), Ended: time.Now().Add(-30 * time.Second)}})
	s.must(errors.Join(err, v[0].Err))
	s.had("told", 30, 1)
	for range 8 { // more often than an agent may be lost with a task
		time.Sleep(6 * time.Minute)
		out, err := s.Expire(s.ctx, "")
		s.must(err)
		if len(out) != 1 || out[0] != lost {
			s.t.Fatalf("%v were lost, want %v", out, lost)
		}
		if k := s.only(lost.JobID); k.Losses != 0 || k.Queued {
			s.t.Errorf("it never began: %+v", k)
		}
		s.state(lost.JobID, queue.Waiting)
		lost = s.leaseFor(5*time.Minute, lost.JobID)[0].Lease.Ref
		if k := s.only(lost.JobID); k.Queued {
			s.t.Errorf("leased anew: %+v", k)
		}
		s.progress(lost, time.Time{})
	}
	s.finish(lost, killed)
	s.had("lost", 0, 9)
	errs, err = s.Progress(s.ctx, []queue.Progress{{Ref: lost}, {Ref: queue.Ref{JobID: 1 << 40, Attempt: 1}}})
	s.must(err)
	if errs[0] == nil || errs[1] == nil {
		s.t.Errorf("of attempts that are over: %v", errs)
	}
}

// waitsElsewhereBounds: a wrong clock in the other system undoes nothing, and charges nothing for the time before the
// lease.
func waitsElsewhereBounds(s *suite) {
	if acc, is := s.Store.(queue.Accountant); is {
		s.must(acc.SetHalfLife(s.ctx, 0))
	}
	for pool, c := range map[string]struct{ began, ended, want time.Duration }{
		"early":  {-time.Hour, 5 * time.Minute, 5 * time.Minute},
		"late":   {time.Hour, 2 * time.Hour, 0},
		"turned": {8 * time.Minute, 5 * time.Minute, 0},
	} {
		id := s.submit(job(func(j *queue.Job) { j.Pool = pool }))[0]
		l := s.leaseFor(time.Hour, id)[0].Lease
		s.progress(l.Ref, time.Time{})
		time.Sleep(10 * time.Minute)
		s.progress(l.Ref, l.Started.Add(c.began))
		v, err := s.Finish(s.ctx, []queue.Result{{Ref: l.Ref, Outcome: ok, Ended: l.Started.Add(c.ended)}})
		s.must(errors.Join(err, v[0].Err))
		s.had(pool, c.want.Seconds(), 1)
	}
}

// endIsHeardOfLate: no pool is charged for the time between an end and its report to the store, and the next attempt
// does not wait for the report. A delay of less than a second counts as the time that a report takes.
func endIsHeardOfLate(s *suite) {
	if acc, is := s.Store.(queue.Accountant); is {
		s.must(acc.SetHalfLife(s.ctx, 0))
	}
	const ran = 10 * time.Minute
	for pool, c := range map[string]struct{ late, want time.Duration }{
		"late":   {5 * time.Minute, 5 * time.Minute},
		"prompt": {900 * time.Millisecond, ran},
		"ahead":  {-time.Hour, ran},
		"wrong":  {time.Hour, 0},
	} {
		id := s.submit(job(func(j *queue.Job) { j.Pool = pool }))[0]
		l := s.leaseFor(time.Hour, id)[0].Lease
		time.Sleep(ran)
		ended := time.Now().Add(-c.late)
		v, err := s.Finish(s.ctx, []queue.Result{{Ref: l.Ref, Outcome: ok, Ended: ended}})
		s.must(errors.Join(err, v[0].Err))
		s.had(pool, c.want.Seconds(), 1)
		if k := s.only(id); k.Ended.Sub(l.Started) != c.want {
			s.t.Errorf("%s: it ran for %v, want %v", pool, k.Ended.Sub(l.Started), c.want)
		}
	}
	id := s.submit(job(func(j *queue.Job) { j.Pool, j.Retries, j.Backoff = "again", 1, ran }))[0]
	l := s.leaseFor(time.Hour, id)[0].Lease
	time.Sleep(ran)
	ended := time.Now().Add(-5 * time.Minute)
	v, err := s.Finish(s.ctx, []queue.Result{{Ref: l.Ref, Outcome: failed, Ended: ended}})
	s.must(errors.Join(err, v[0].Err))
	if k := s.only(id); !v[0].Again || !k.Begin.Equal(ended.Add(ran)) {
		s.t.Errorf("the next attempt begins %v after the end, want %v", k.Begin.Sub(ended), ran)
	}
}

// waitsElsewhereArray: a job runs as soon as one of its tasks does, and is queued while some of them wait elsewhere and
// none runs.
func waitsElsewhereArray(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Array, j.Retries = "1-3", 1 }))[0]
	var refs []queue.Ref
	for _, g := range s.leaseFor(time.Hour, id, id) {
		refs = append(refs, g.Lease.Ref)
	}
	s.progress(refs[0], time.Time{})
	s.state(id, queue.Running) // the state of the other task is unknown yet
	s.progress(refs[1], time.Time{})
	if j := s.state(id, queue.Queued); j.Waiting != 1 || j.Running != 2 || j.Queued != 2 || !j.Started.IsZero() {
		s.t.Errorf("while both wait there: %+v", j)
	}
	time.Sleep(time.Minute)
	began := time.Now()
	s.progress(refs[1], began)
	if j := s.state(id, queue.Running); j.Queued != 1 || !j.Started.Equal(began) {
		s.t.Errorf("when one began: %+v", j)
	}
	s.finish(refs[1], failed)
	if j := s.state(id, queue.Queued); j.Waiting != 2 || j.Queued != 1 {
		s.t.Errorf("when it waits again: %+v", j)
	}
	s.must(s.alter(id, queue.VerbCancel))
	s.state(id, queue.Queued)
	s.finish(refs[0], killed)
	if j := s.state(id, queue.Cancelled); j.Queued != 0 || j.Cancelled != 3 {
		s.t.Errorf("when it was canceled: %+v", j)
	}
	s.must(s.alter(id, queue.VerbRequeue))
	s.state(id, queue.Waiting)
	tasks, err := s.Tasks(s.ctx, id)
	s.must(err)
	for _, k := range tasks {
		if k.Queued {
			s.t.Errorf("requeued: %+v", k)
		}
	}
}
