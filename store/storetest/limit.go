package storetest

import (
	"errors"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// timeLimited: the time limit of a job changes while none of its tasks runs, and applies to the attempts that
// follow.
func timeLimited(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Pool, j.Limit, j.Array = "a", time.Minute, "0-2" }))[0]
	set := func(limit time.Duration) error {
		errs, err := s.Alter(s.ctx, []queue.Alteration{{Job: id, Verb: queue.VerbLimit, Limit: limit}})
		s.must(err)
		return errs[0]
	}
	_, cursor := s.changes(0)
	s.must(set(time.Hour))
	if j := s.get(id); j.Limit != time.Hour || j.Waiting != 3 || len(j.Argv) == 0 {
		s.t.Errorf("with an hour: %+v", j)
	}
	changes, _ := s.changes(cursor)
	if len(changes) != 2 || changes[0].What != queue.Withdrawn || changes[1].What != queue.Waited ||
		changes[1].Job.Limit != time.Hour || changes[1].Waits[0].Tasks != 3 {
		s.t.Errorf("the feed says %+v", changes)
	}
	l := s.take(id)
	if l.Job.Limit != time.Hour {
		s.t.Errorf("leased with %v", l.Job.Limit)
	}
	if err := set(2 * time.Hour); !errors.Is(err, queue.ErrState) {
		s.t.Errorf("changed while it runs: %v", err)
	}
	s.finish(l.Ref, ok)
	s.must(set(queue.NoLimit))
	if l := s.take(id); l.Job.Limit != 0 {
		s.t.Errorf("without a limit leased with %v", l.Job.Limit)
	}
}
