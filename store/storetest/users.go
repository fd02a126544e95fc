package storetest

import (
	"errors"
	"maps"

	"github.com/fairlead/fairlead/queue"
)

// poolsKnowTheirMaker: the user whose job was the first in a pool, by submission or by a move.
func poolsKnowTheirMaker(s *suite) {
	acc, is := s.Store.(queue.Accountant)
	if !is {
		s.t.Skip("the store keeps no accounts")
	}
	ids := s.submit(job(), job(func(j *queue.Job) { j.User = "bob" }), job(func(j *queue.Job) { j.User, j.Pool = "bob", "b" }), job(func(j *queue.Job) { j.Pool = "b" }))
	errs, err := s.Alter(s.ctx, []queue.Alteration{{Job: ids[1], Verb: queue.VerbMove, Pool: "c"}, {Job: ids[0], Verb: queue.VerbMove, Pool: "b"}})
	s.must(err)
	s.must(errs[0])
	s.must(errs[1])
	if c, can := s.Store.(queue.Charger); can {
		s.must(c.SetUsed(s.ctx, map[string]float64{"d": 5}))
	}
	u, err := acc.Usage(s.ctx)
	s.must(err)
	for pool, want := range map[string]string{"a": "ann", "b": "bob", "c": "bob", "d": ""} {
		if got := u.Pools[pool].Maker; got != want {
			s.t.Errorf("%s was made by %q, want %q", pool, got, want)
		}
	}
}

// usersAreCounted: unstarted tasks of all jobs count, whatever they wait for.
func usersAreCounted(s *suite) {
	c, can := s.Store.(queue.UserCounter)
	if !can {
		s.t.Skip("the store does not count what users have")
	}
	bob := func(j *queue.Job) { j.User = "bob" }
	ids := s.submit(job(), job(func(j *queue.Job) { j.Held = true }), job(func(j *queue.Job) { j.Array = "0-4" }), job(bob), job(bob))
	s.submit(job(func(j *queue.Job) { j.After = []queue.Dependency{{Job: ids[0]}} }))
	check := func(want map[string]queue.UserCount) {
		s.t.Helper()
		got, err := c.CountUsers(s.ctx)
		s.must(err)
		if !maps.Equal(got, want) {
			s.t.Errorf("counted %v, want %v", got, want)
		}
	}
	check(map[string]queue.UserCount{"ann": {Jobs: 4, Tasks: 8}, "bob": {Jobs: 2, Tasks: 2}})
	s.finish(s.take(ids[3]).Ref, ok)
	s.must(s.alter(ids[4], queue.VerbCancel))
	first := s.take(ids[2])
	check(map[string]queue.UserCount{"ann": {Jobs: 4, Tasks: 7}})
	s.finish(first.Ref, ok)
	s.take(ids[0])
	check(map[string]queue.UserCount{"ann": {Jobs: 3, Tasks: 6}})
	s.must(s.alter(ids[3], queue.VerbRequeue))
	check(map[string]queue.UserCount{"ann": {Jobs: 3, Tasks: 6}, "bob": {Jobs: 1, Tasks: 1}})
}

// keysAreRead: the store reports which jobs have which keys, and adds no keys.
func keysAreRead(s *suite) {
	r, can := s.Store.(queue.KeyReader)
	if !can {
		s.t.Skip("the store does not say for which jobs keys stand")
	}
	keyed := func(user, key, digest string, untilEnd bool) *queue.Job {
		return job(func(j *queue.Job) { j.User, j.Key, j.Digest, j.KeyUntilEnd = user, key, digest, untilEnd })
	}
	ids := s.submit(keyed("ann", "one", "x", false), keyed("ann", "two", "x", true))
	ask := func(want ...int64) {
		s.t.Helper()
		subs, err := r.Keyed(s.ctx, []*queue.Job{job(), keyed("ann", "one", "x", false), keyed("bob", "one", "x", false), keyed("ann", "new", "x", false), keyed("ann", "two", "y", true), keyed("ann", "one", "y", false)})
		s.must(err)
		for i, id := range want {
			if got := subs[i]; got.ID != id || got.Existing != (id > 0) || got.Err != nil {
				s.t.Errorf("number %d: %+v, want job %d", i+1, got, id)
			}
		}
		var used *queue.KeyError
		if !errors.As(subs[5].Err, &used) || used.Job != ids[0] || used.Key != "one" {
			s.t.Errorf("the key of a job that asked for something else: %+v", subs[5])
		}
	}
	ask(0, ids[0], 0, 0, ids[1])
	for _, id := range ids {
		s.finish(s.take(id).Ref, ok)
	}
	ask(0, ids[0], 0, 0, 0)
	all, err := s.Jobs(s.ctx, queue.Query{})
	s.must(err)
	if len(all) != 2 {
		s.t.Errorf("%d jobs are kept", len(all))
	}
}
