package storetest

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// queryIsKept: the store does not change the ids of a query, or their order.
func queryIsKept(s *suite) {
	ids := s.submit(job(), job())
	asked := []int64{ids[1], ids[0], ids[1]}
	jobs, err := s.Jobs(s.ctx, queue.Query{IDs: asked})
	s.must(err)
	if len(jobs) != 2 || jobs[0].ID != ids[0] || !slices.Equal(asked, []int64{ids[1], ids[0], ids[1]}) {
		s.t.Errorf("%d jobs were found; the query is %v now", len(jobs), asked)
	}
}

// queryDependents finds the jobs that wait for others, and the jobs that were canceled with others.
func queryDependents(s *suite) {
	a := s.submit(job(), job(), job())
	d := s.submit(after(queue.OnOK, a[0]), after(queue.OnAny, a[0]), after(queue.OnOK, a[0], a[1]))
	find := func(q queue.Query, want ...int64) {
		s.t.Helper()
		jobs, err := s.Jobs(s.ctx, q)
		s.must(err)
		var got []int64
		for _, j := range jobs {
			got = append(got, j.ID)
		}
		if !slices.Equal(got, want) {
			s.t.Errorf("%+v: %v, want %v", q, got, want)
		}
	}
	find(queue.Query{DependsOn: a[:1]}, d...)
	find(queue.Query{DependsOn: []int64{a[1], 99, a[0]}}, d...)
	find(queue.Query{DependsOn: a[:1], IDs: []int64{a[2], d[2]}}, d[2])
	find(queue.Query{DependsOn: a[:1], Newest: true, Limit: 2}, d[2], d[1])
	find(queue.Query{DependsOn: a[2:]})
	find(queue.Query{DependsOn: a[:1], IDs: a[2:]})
	errs, err := s.Alter(s.ctx, []queue.Alteration{{Job: a[0], Verb: queue.VerbCancel}})
	s.must(cmp.Or(err, errs[0]))
	find(queue.Query{DependsOn: a[:1], States: []queue.State{queue.Cancelled}}, d[0], d[2])
}

func querySelects(s *suite) {
	ids := s.submit(
		job(func(j *queue.Job) { j.User, j.Pool, j.Kind = "ann", "a", "x" }),
		job(func(j *queue.Job) { j.User, j.Pool, j.Kind = "bob", "a/b", "y" }),
		job(func(j *queue.Job) { j.User, j.Pool, j.Kind = "ann", "ab", "y" }),
		job(func(j *queue.Job) { j.User, j.Pool, j.Held = "cid", "c", true }),
		job(func(j *queue.Job) { j.User, j.Pool, j.Kind, j.Array = "dan", "d", "z", "0-2" }),
		job(func(j *queue.Job) { j.User, j.Pool, j.Kind = "dan", "d", "z" }),
	)
	s.finish(s.take(ids[2]).Ref, ok)
	s.finish(s.take(ids[4]).Ref, failed)
	s.take(ids[4])
	s.take(ids[5])
	open := []queue.State{queue.Waiting, queue.Running}
	for _, c := range []struct {
		what string
		q    queue.Query
		want []int64
	}{
		{"all", queue.Query{}, ids},
		{"user", queue.Query{User: "ann"}, []int64{ids[0], ids[2]}},
		{"pool", queue.Query{Pool: "a"}, ids[:2]},
		{"kind", queue.Query{Kind: "y"}, ids[1:3]},
		{"states", queue.Query{States: []queue.State{queue.Held, queue.Succeeded}}, ids[2:4]},
		{"failing", queue.Query{Failing: true, States: []queue.State{queue.Succeeded}}, []int64{ids[2], ids[4]}},
		{"waits", queue.Query{Waits: true, States: open}, []int64{ids[0], ids[1], ids[4]}},
		{"open", queue.Query{States: open}, []int64{ids[0], ids[1], ids[4], ids[5]}},
		{"waits, held as well", queue.Query{Waits: true}, []int64{ids[0], ids[1], ids[3], ids[4]}},
		{"ids", queue.Query{IDs: []int64{ids[3], 99, ids[0]}}, []int64{ids[0], ids[3]}},
		{"ids that wait", queue.Query{Waits: true, IDs: []int64{ids[5], ids[4]}}, ids[4:5]},
		{"newest", queue.Query{Newest: true, Limit: 2}, []int64{ids[5], ids[4]}},
		{"page", queue.Query{After: ids[0], Limit: 2}, ids[1:3]},
		{"before", queue.Query{Before: ids[2]}, ids[:2]},
		{"since", queue.Query{Since: time.Now().Add(time.Hour)}, []int64{ids[0], ids[1], ids[3], ids[4], ids[5]}},
		{"nothing", queue.Query{User: "zoe"}, nil},
	} {
		jobs, err := s.Jobs(s.ctx, c.q)
		s.must(err)
		var got []int64
		for _, j := range jobs {
			got = append(got, j.ID)
		}
		if !slices.Equal(got, c.want) {
			s.t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
