package storetest

import (
	"errors"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// moved: a job without running tasks moves to another pool, with its waiting tasks, and is charged there.
func moved(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Pool, j.Limit, j.Array = "a", time.Minute, "0-2" }))[0]
	move := queue.Alteration{Job: id, Verb: queue.VerbMove, Pool: "b/c", Limit: time.Hour}
	alter := func() error {
		errs, err := s.Alter(s.ctx, []queue.Alteration{move})
		s.must(err)
		return errs[0]
	}
	_, cursor := s.changes(0)
	s.must(alter())
	if j := s.get(id); j.Pool != "b/c" || j.Limit != time.Hour || j.Waiting != 3 || len(j.Argv) == 0 {
		s.t.Errorf("after it was moved: %+v", j)
	}
	changes, _ := s.changes(cursor)
	if len(changes) != 2 || changes[0].What != queue.Withdrawn || changes[0].Job.Pool != "a" || changes[1].What != queue.Waited || changes[1].Job.Pool != "b/c" || changes[1].Waits[0].Tasks != 3 {
		s.t.Errorf("the feed says %+v", changes)
	}
	l := s.take(id)
	if l.Job.Pool != "b/c" || l.Job.Limit != time.Hour {
		s.t.Errorf("leased as %+v", l.Job)
	}
	move.Pool = "a"
	if err := alter(); !errors.Is(err, queue.ErrState) {
		s.t.Errorf("moved while it runs: %v", err)
	}
	s.finish(l.Ref, ok)
	s.must(alter())
	if acc, is := s.Store.(queue.Accountant); is {
		u, err := acc.Usage(s.ctx)
		s.must(err)
		if a, b := u.Pools["a"].Counters, u.Pools["b/c"].Counters; a != (queue.Counters{Waiting: 2}) || b != (queue.Counters{}) {
			s.t.Errorf("counters %+v and %+v", a, b)
		}
	}
}
