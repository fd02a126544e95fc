package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

func expireReturns(s *suite) {
	ids := s.submit(job(), job())
	s.leaseFor(time.Nanosecond, ids[0])
	s.take(ids[1])
	time.Sleep(time.Millisecond)
	refs, err := s.Expire(s.ctx, "")
	s.must(err)
	if len(refs) != 1 || refs[0].JobID != ids[0] || refs[0].Attempt != 1 {
		s.t.Fatalf("expired %v, want job %d", refs, ids[0])
	}
	s.state(ids[0], queue.Waiting)
	s.state(ids[1], queue.Running)
	if refs, _ := s.Expire(s.ctx, "nobody"); len(refs) != 0 {
		s.t.Errorf("expired %v of a holder that has none", refs)
	}
	if refs, _ := s.Expire(s.ctx, "agent"); len(refs) != 1 || refs[0].JobID != ids[1] {
		s.t.Errorf("expired %v, want job %d", refs, ids[1])
	}
}

func expireSetsAside(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Retries = 100 }))[0]
	for n := 0; s.get(id).State == queue.Waiting; n++ {
		if n > 20 {
			s.t.Fatal("a job that kills its agents is tried forever")
		}
		s.take(id)
		_, err := s.Expire(s.ctx, "agent")
		s.must(err)
	}
	if j := s.state(id, queue.Failed); !strings.Contains(j.Cause, "lost") {
		s.t.Errorf("cause %q", j.Cause)
	}
}

func renewKeeps(s *suite) {
	id := s.submit(job())[0]
	l := s.leaseFor(time.Nanosecond, id)[0].Lease
	errs, err := s.Renew(s.ctx, []queue.Ref{l.Ref}, time.Hour)
	s.must(err)
	s.must(errs[0])
	time.Sleep(time.Millisecond)
	if refs, _ := s.Expire(s.ctx, ""); len(refs) != 0 {
		s.t.Errorf("expired %v although renewed", refs)
	}
}

// renewNeverShortens renews a single task and a task of an array for less time than is left, as a delayed renewal does.
func renewNeverShortens(s *suite) {
	single := s.submit(job())[0]
	array := s.submit(job(func(j *queue.Job) { j.Tasks = 2 }))[0]
	a, b := s.leaseFor(time.Hour, single)[0].Lease, s.leaseFor(time.Hour, array)[0].Lease
	errs, err := s.Renew(s.ctx, []queue.Ref{a.Ref, b.Ref}, time.Nanosecond)
	s.must(errors.Join(append(errs, err)...))
	time.Sleep(time.Millisecond)
	refs, err := s.Expire(s.ctx, "")
	if s.must(err); len(refs) != 0 {
		s.t.Errorf("expired %v, whose leases last for an hour", refs)
	}
	time.Sleep(time.Hour)
	refs, err = s.Expire(s.ctx, "")
	if s.must(err); len(refs) != 2 {
		s.t.Errorf("expired %v, after an hour", refs)
	}
}
