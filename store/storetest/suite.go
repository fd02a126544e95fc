package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Open returns an empty store, which charges by the unit cpu. The suite closes it.
type Open func(t testing.TB) queue.Store

// suite is a store with helpers that fail the test on an error.
type suite struct {
	queue.Store
	t   *testing.T
	ctx context.Context
}

const ttl = time.Minute

func job(f ...func(*queue.Job)) *queue.Job {
	j := &queue.Job{Name: "n", User: "ann", Pool: "a", Priority: "normal", Argv: []string{"true"}}
	for _, f := range f {
		f(j)
	}
	return j
}

func (s *suite) submit(jobs ...*queue.Job) []int64 {
	s.t.Helper()
	subs, err := s.Submit(s.ctx, jobs)
	if err != nil {
		s.t.Fatal(err)
	}
	var ids []int64
	for i, sub := range subs {
		if sub.Err != nil {
			s.t.Fatalf("job %d: %v", i, sub.Err)
		}
		ids = append(ids, sub.ID)
	}
	return ids
}

func (s *suite) lease(ids ...int64) []queue.Grant {
	s.t.Helper()
	return s.leaseFor(ttl, ids...)
}

func (s *suite) leaseFor(ttl time.Duration, ids ...int64) []queue.Grant {
	s.t.Helper()
	wants := make([]queue.Want, len(ids))
	for i, id := range ids {
		wants[i].Job = id
	}
	grants, err := s.Lease(s.ctx, "agent", wants, ttl)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(grants) != len(wants) {
		s.t.Fatalf("%d grants for %d wants", len(grants), len(wants))
	}
	return grants
}

// take leases one task, and fails the test if it cannot.
func (s *suite) take(id int64) *queue.Lease {
	s.t.Helper()
	l := s.lease(id)[0].Lease
	if l == nil {
		s.t.Fatalf("no lease of job %d", id)
	}
	return l
}

func (s *suite) finish(r queue.Ref, o queue.Outcome) queue.Verdict {
	s.t.Helper()
	v, err := s.Finish(s.ctx, []queue.Result{{Ref: r, Outcome: o}})
	if err != nil {
		s.t.Fatal(err)
	}
	return v[0]
}

var (
	ok     = queue.Outcome{State: queue.Succeeded}
	failed = queue.Outcome{State: queue.Failed, ExitCode: 3}
	killed = queue.Outcome{State: queue.Cancelled, Signal: "terminated"}
)

func (s *suite) get(id int64) *queue.Job {
	s.t.Helper()
	jobs, err := s.Jobs(s.ctx, queue.Query{IDs: []int64{id}})
	if err != nil || len(jobs) != 1 {
		s.t.Fatalf("job %d: %d found, %v", id, len(jobs), err)
	}
	return jobs[0]
}

func (s *suite) state(id int64, want queue.State) *queue.Job {
	s.t.Helper()
	j := s.get(id)
	if j.State != want {
		s.t.Fatalf("job %d is %s, want %s", id, j.State, want)
	}
	return j
}

func (s *suite) alter(id int64, v queue.Verb) error {
	s.t.Helper()
	errs, err := s.Alter(s.ctx, []queue.Alteration{{Job: id, Verb: v, Cause: "by ann"}})
	if err != nil {
		s.t.Fatal(err)
	}
	return errs[0]
}

func (s *suite) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
