package storetest

import (
	"errors"
	"math"
	"time"

	"github.com/fairlead/fairlead"
)

// progress says how far an attempt is in another queueing system.
func (s *suite) progress(ref fairlead.Ref, began time.Time) {
	s.t.Helper()
	errs, err := s.Progress(s.ctx, []fairlead.Progress{{Ref: ref, Began: began}})
	s.must(errors.Join(append(errs, err)...))
}

// only is the only task of a job.
func (s *suite) only(id int64) fairlead.Task {
	s.t.Helper()
	tasks, err := s.Tasks(s.ctx, id)
	s.must(err)
	if len(tasks) != 1 {
		s.t.Fatalf("tasks %+v", tasks)
	}
	return tasks[0]
}

// had checks what a pool has received, and how many of its tasks ended.
func (s *suite) had(pool string, want float64, ended int64) {
	s.t.Helper()
	acc, is := s.Store.(fairlead.Accountant)
	if !is {
		return
	}
	u, err := acc.Usage(s.ctx)
	s.must(err)
	if a := u.Pools[pool]; math.Abs(a.Used-want) > 1e-3+0.01*want || math.Abs(a.Total-want) > 1e-3+0.01*want || a.Ended != ended || a.Running != 0 {
		s.t.Errorf("%s has %+v, want %v used, %d ended", pool, a, want, ended)
	}
}

// runsIn are the runs that a snapshot and the changes tell of a job.
func (s *suite) runsIn(id int64, what fairlead.What) (runs []fairlead.Run) {
	s.t.Helper()
	take := func(c fairlead.Change) error {
		if c.Job.ID == id && c.What == what {
			runs = append(runs, c.Runs...)
		}
		return nil
	}
	if what == fairlead.Runs {
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

// waitsElsewhere: what waits in another queueing system is charged from when it began there, and
// to when it ended; a snapshot and the changes tell how far it is.
func waitsElsewhere(s *suite) {
	if acc, is := s.Store.(fairlead.Accountant); is {
		s.must(acc.SetHalfLife(s.ctx, 0))
	}
	id := s.submit(job(func(j *fairlead.Job) { j.Request = fairlead.Amounts{"cpu": 2} }))[0]
	l := s.leaseFor(time.Hour, id)[0].Lease
	s.progress(l.Ref, time.Time{})
	s.progress(l.Ref, time.Time{})
	if j := s.state(id, fairlead.Queued); j.Running != 1 || j.Queued != 1 || j.Waiting != 0 || !j.Started.IsZero() {
		s.t.Errorf("while it waits there: %+v", j)
	}
	if k := s.only(id); !k.Queued || k.State != fairlead.Running || !k.Started.Equal(l.Started) {
		s.t.Errorf("while it waits there: %+v", k)
	}
	if runs := s.runsIn(id, fairlead.Runs); len(runs) != 1 || !runs[0].Queued {
		s.t.Errorf("the snapshot tells %+v", runs)
	}
	if jobs, err := s.Jobs(s.ctx, fairlead.Query{States: []fairlead.State{fairlead.Queued}}); err != nil || len(jobs) != 1 {
		s.t.Errorf("%d jobs are queued (%v)", len(jobs), err)
	}
	errs, err := s.Renew(s.ctx, []fairlead.Ref{l.Ref}, time.Hour)
	s.must(errors.Join(append(errs, err)...))
	time.Sleep(10 * time.Minute)
	began := time.Now().Add(-2 * time.Minute)
	s.progress(l.Ref, began)
	s.progress(l.Ref, began.Add(time.Minute)) // it began once
	if j := s.state(id, fairlead.Running); j.Running != 1 || j.Queued != 0 || !j.Started.Equal(began) {
		s.t.Errorf("when it began: %+v", j)
	}
	if runs := s.runsIn(id, fairlead.Runs); len(runs) != 1 || runs[0].Queued || !runs[0].Started.Equal(began) {
		s.t.Errorf("the snapshot tells %+v", runs)
	}
	if runs := s.runsIn(id, fairlead.Progressed); len(runs) != 2 || !runs[0].Queued || runs[1].Queued || !runs[1].Started.Equal(began) {
		s.t.Errorf("the changes tell %+v", runs)
	}
	time.Sleep(10 * time.Minute)
	ended := time.Now().Add(-5 * time.Minute)
	v, err := s.Finish(s.ctx, []fairlead.Result{{Ref: l.Ref, Outcome: ok, Ended: ended}})
	s.must(errors.Join(err, v[0].Err))
	if j := s.state(id, fairlead.Succeeded); !j.Ended.Equal(ended) || !j.Started.Equal(began) {
		s.t.Errorf("when it has ended: %+v", j)
	}
	if k := s.only(id); !k.Ended.Equal(ended) || k.Queued {
		s.t.Errorf("when it has ended: %+v", k)
	}
	s.had("a", 2*7*60, 1)
	// One whose end is told now, and of which no end was told.
	id = s.submit(job(func(j *fairlead.Job) { j.Pool = "b" }))[0]
	l = s.leaseFor(time.Hour, id)[0].Lease
	s.progress(l.Ref, time.Time{})
	time.Sleep(10 * time.Minute)
	s.progress(l.Ref, time.Now())
	time.Sleep(time.Minute)
	s.finish(l.Ref, ok)
	s.had("b", 60, 1)
}

// waitsElsewhereInVain: what never began there has received nothing, however it ends, and is a
// task that waits as before if it waits again.
func waitsElsewhereInVain(s *suite) {
	queued := func(pool string) fairlead.Ref {
		id := s.submit(job(func(j *fairlead.Job) { j.Pool = pool }))[0]
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
	if j := s.state(cancelled.JobID, fairlead.Cancelled); !j.Started.IsZero() || j.Queued != 0 {
		s.t.Errorf("it never began: %+v", j)
	}
	s.had("cancelled", 0, 1)
	errs, err := s.Release(s.ctx, []fairlead.Ref{given})
	s.must(errors.Join(append(errs, err)...))
	s.state(given.JobID, fairlead.Waiting)
	s.had("given", 0, 0)
	// That it began comes with its end.
	v, err := s.Finish(s.ctx, []fairlead.Result{{Ref: told, Outcome: ok, Began: time.Now().Add(-time.Minute), Ended: time.Now().Add(-30 * time.Second)}})
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
		s.state(lost.JobID, fairlead.Waiting)
		lost = s.leaseFor(5*time.Minute, lost.JobID)[0].Lease.Ref
		if k := s.only(lost.JobID); k.Queued {
			s.t.Errorf("leased anew: %+v", k)
		}
		s.progress(lost, time.Time{})
	}
	s.finish(lost, killed)
	s.had("lost", 0, 9)
	errs, err = s.Progress(s.ctx, []fairlead.Progress{{Ref: lost}, {Ref: fairlead.Ref{JobID: 1 << 40, Attempt: 1}}})
	s.must(err)
	if errs[0] == nil || errs[1] == nil {
		s.t.Errorf("of attempts that are over: %v", errs)
	}
}

// waitsElsewhereBounds: a clock that goes wrong there takes nothing back, and charges nothing from
// before the lease.
func waitsElsewhereBounds(s *suite) {
	if acc, is := s.Store.(fairlead.Accountant); is {
		s.must(acc.SetHalfLife(s.ctx, 0))
	}
	for pool, c := range map[string]struct{ began, ended, want time.Duration }{
		"early":  {-time.Hour, 5 * time.Minute, 5 * time.Minute},
		"late":   {time.Hour, 2 * time.Hour, 0},
		"turned": {8 * time.Minute, 5 * time.Minute, 0},
	} {
		id := s.submit(job(func(j *fairlead.Job) { j.Pool = pool }))[0]
		l := s.leaseFor(time.Hour, id)[0].Lease
		s.progress(l.Ref, time.Time{})
		time.Sleep(10 * time.Minute)
		s.progress(l.Ref, l.Started.Add(c.began))
		v, err := s.Finish(s.ctx, []fairlead.Result{{Ref: l.Ref, Outcome: ok, Ended: l.Started.Add(c.ended)}})
		s.must(errors.Join(err, v[0].Err))
		s.had(pool, c.want.Seconds(), 1)
	}
}

// waitsElsewhereArray: a job runs as soon as one of its tasks does, and is queued while some wait
// elsewhere and none runs.
func waitsElsewhereArray(s *suite) {
	id := s.submit(job(func(j *fairlead.Job) { j.Array, j.Retries = "1-3", 1 }))[0]
	var refs []fairlead.Ref
	for _, g := range s.leaseFor(time.Hour, id, id) {
		refs = append(refs, g.Lease.Ref)
	}
	s.progress(refs[0], time.Time{})
	s.state(id, fairlead.Running) // of the other nothing is known yet
	s.progress(refs[1], time.Time{})
	if j := s.state(id, fairlead.Queued); j.Waiting != 1 || j.Running != 2 || j.Queued != 2 || !j.Started.IsZero() {
		s.t.Errorf("while both wait there: %+v", j)
	}
	time.Sleep(time.Minute)
	began := time.Now()
	s.progress(refs[1], began)
	if j := s.state(id, fairlead.Running); j.Queued != 1 || !j.Started.Equal(began) {
		s.t.Errorf("when one began: %+v", j)
	}
	s.finish(refs[1], failed)
	if j := s.state(id, fairlead.Queued); j.Waiting != 2 || j.Queued != 1 {
		s.t.Errorf("when it waits again: %+v", j)
	}
	s.must(s.alter(id, fairlead.VerbCancel))
	s.state(id, fairlead.Queued)
	s.finish(refs[0], killed)
	if j := s.state(id, fairlead.Cancelled); j.Queued != 0 || j.Cancelled != 3 {
		s.t.Errorf("when it was cancelled: %+v", j)
	}
	s.must(s.alter(id, fairlead.VerbRequeue))
	s.state(id, fairlead.Waiting)
	tasks, err := s.Tasks(s.ctx, id)
	s.must(err)
	for _, k := range tasks {
		if k.Queued {
			s.t.Errorf("requeued: %+v", k)
		}
	}
}

// progress says how far some attempts are, most of which are over.
func (w *twins) progress() {
	var all []fairlead.Progress
	for _, r := range w.someRefs() {
		p := fairlead.Progress{Ref: r}
		if w.rng.IntN(2) == 0 {
			p.Began = w.lately()
		}
		all = append(all, p)
	}
	x, e1 := w.a.Progress(w.t.Context(), all)
	y, e2 := w.b.Progress(w.t.Context(), all)
	w.same("progress", sentinels(x), sentinels(y), e1, e2)
}

// lately is an instant of the recent past, the near future, or none.
func (w *twins) lately() time.Time {
	n := w.rng.IntN(15)
	if n == 0 {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(n-12) * time.Second)
}
