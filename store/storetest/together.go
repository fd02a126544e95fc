package storetest

import (
	"errors"

	"github.com/fairlead/fairlead/queue"
)

// all changes several jobs in one call, and fails the test if one is refused.
func (s *suite) all(v queue.Verb, ids ...int64) {
	s.t.Helper()
	for i, err := range s.each(v, ids...) {
		if err != nil {
			s.t.Errorf("%s, number %d of %v: %v", v, i+1, ids, err)
		}
	}
}

// each changes several jobs in one call, and returns the result of each.
func (s *suite) each(v queue.Verb, ids ...int64) []error {
	s.t.Helper()
	var changes []queue.Alteration
	for _, id := range ids {
		changes = append(changes, queue.Alteration{Job: id, Verb: v, Cause: "by ann"})
	}
	errs, err := s.Alter(s.ctx, changes)
	s.must(err)
	return errs
}

// chain submits n jobs; each waits for the one before.
func (s *suite) chain(n int) (ids []int64) {
	for i := range n {
		ids = append(ids, s.submit(job(func(j *queue.Job) {
			if i > 0 {
				j.After = []queue.Dependency{{Job: ids[i-1], On: queue.OnOK}}
			}
		}))...)
	}
	return ids
}

// alterTogether: if one change of a call also changes another job that the call names, that job's own change is no
// error, in any order. A change that had been made before the call is refused.
func alterTogether(s *suite) {
	ids := s.chain(3)
	a, b, c := ids[0], ids[1], ids[2]
	s.all(queue.VerbCancel, a, b, c, a)
	for _, id := range ids {
		s.state(id, queue.Cancelled)
	}
	for i, err := range s.each(queue.VerbCancel, a, b, c) {
		if !errors.Is(err, queue.ErrState) {
			s.t.Errorf("number %d is canceled again: %v", i+1, err)
		}
	}
	s.all(queue.VerbUncancel, a, b, c, a)
	s.state(a, queue.Waiting)
	s.state(b, queue.Blocked)
	s.state(c, queue.Blocked)
	for i, err := range s.each(queue.VerbUncancel, a, b, c) {
		if !errors.Is(err, queue.ErrState) {
			s.t.Errorf("number %d is brought back again: %v", i+1, err)
		}
	}
	s.counts("a")
	s.finish(s.take(a).Ref, ok)
	errs := s.each(queue.VerbCancel, a, b, c)
	if !errors.Is(errs[0], queue.ErrState) || errs[1] != nil || errs[2] != nil {
		s.t.Errorf("of one that had ended and two others: %v", errs)
	}
}

// uncancelInAnyOrder: jobs come back together with their dependencies, in whatever order a call names them.
func uncancelInAnyOrder(s *suite) {
	ids := s.chain(3)
	a, b, c := ids[0], ids[1], ids[2]
	back := func(order ...int64) {
		s.t.Helper()
		s.all(queue.VerbUncancel, order...)
		s.state(a, queue.Waiting)
		s.state(b, queue.Blocked)
		s.state(c, queue.Blocked)
	}
	s.all(queue.VerbCancel, c, b, a) // each by itself
	back(c, b, a)
	s.all(queue.VerbCancel, b, a)
	back(c, a, b)
	s.all(queue.VerbCancel, b, a, c)
	back(b, a, c)
	s.counts("a")
	s.all(queue.VerbCancel, b, a)
	errs := s.each(queue.VerbUncancel, c, b)
	for i, err := range errs {
		if !errors.Is(err, queue.ErrState) {
			s.t.Errorf("number %d comes back without what it depends on: %v", i+1, err)
		}
	}
	back(b, a)
}
