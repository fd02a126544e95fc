package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/queue"
)

// claim leases the wanted jobs and returns the job that each want got, 0 for none.
func (s *suite) claim(wants ...queue.Want) (got []int64) {
	s.t.Helper()
	grants, err := s.Lease(s.ctx, "agent", wants, ttl)
	s.must(err)
	for _, g := range grants {
		if g.Lease == nil {
			got = append(got, 0)
			continue
		}
		got = append(got, g.Lease.JobID)
		if g.Lease.Job.ID != g.Lease.JobID || g.Lease.Job.Pool == "" || len(g.Waiting) > 0 {
			s.t.Errorf("grant %+v with the job %+v", g, g.Lease.Job)
		}
	}
	return got
}

func (s *suite) gets(what string, want []int64, wants ...queue.Want) {
	s.t.Helper()
	if got := s.claim(wants...); !slices.Equal(got, want) {
		s.t.Errorf("%s: leased %v, want %v", what, got, want)
	}
}

// leaseElsewhere: if a job cannot be leased, the store leases the first alternate that can be leased. It leases each
// job once, and no alternate that another want names as its job.
func leaseElsewhere(s *suite) {
	want := func(id int64, others ...int64) queue.Want { return queue.Want{Job: id, Else: others} }
	gone := s.submit(job(), job(), job())
	for _, id := range gone {
		s.take(id)
	}
	x := s.submit(job(), job(), job(), job(), job(), job(), job(), job())
	s.gets("a job that is free", []int64{x[0]}, want(x[0], x[1], x[2]))
	s.gets("a list of two wants", []int64{x[1], x[2]}, want(gone[0], x[1], x[2]), want(gone[1], x[1], x[2]))
	s.gets("a list that is too short", []int64{x[3], 0, 0}, want(gone[0], x[1], x[3]), want(gone[1], x[1], x[3]), want(gone[2], x[1], x[3]))
	s.gets("one that is wanted", []int64{x[5], 0, x[4]}, want(gone[0], x[4], x[5]), want(gone[1]), want(x[4], x[4], x[5]))
	s.gets("two lists, and a job wanted twice", []int64{x[6], x[7], 0}, want(x[6], x[7]), want(x[6], x[7]), want(gone[0], gone[1], 4711))
	if j := s.get(x[7]); j.State != queue.Running {
		s.t.Errorf("job %+v", j)
	}
}

// leaseElsewhereOfSome: the store does not lease held jobs, jobs that are not due, or alternates with several tasks; a
// task of an array has no alternate.
func leaseElsewhereOfSome(s *suite) {
	gone := s.submit(job(), job())
	s.take(gone[0])
	s.finish(s.take(gone[1]).Ref, ok)
	array := s.submit(job(func(j *queue.Job) { j.Array = "0-3%1" }))[0]
	gang := s.submit(job(func(j *queue.Job) { j.Gang = 2 }))[0]
	held := s.submit(job(func(j *queue.Job) { j.Held = true }))[0]
	x := s.submit(job(), job(), job())
	others := []int64{array, gang, held, x[0], x[1], x[2]}
	s.gets("some that cannot be had", []int64{x[0], x[1]}, queue.Want{Job: gone[0], Else: others}, queue.Want{Job: gone[1], Else: others})
	grants, err := s.Lease(s.ctx, "agent", []queue.Want{{Job: array, Else: x}, {Job: array, Else: x}, {Job: gang, Else: x}, {Job: gang, Nodes: []string{"a", "b"}, Else: x}}, ttl)
	s.must(err)
	var got []string
	for _, g := range grants {
		for _, l := range leasesOf(g) {
			got = append(got, fmt.Sprint(l.JobID, "_", l.Task))
		}
	}
	if want := []string{fmt.Sprint(array, "_", 0), fmt.Sprint(gang, "_", 0), fmt.Sprint(gang, "_", 1)}; !slices.Equal(got, want) {
		s.t.Errorf("leased %v, want %v", got, want)
	}
	if len(grants[1].Waiting) != 1 || grants[1].Waiting[0].Tasks != 3 {
		s.t.Errorf("of the array wait %+v", grants[1].Waiting)
	}
	s.state(x[2], queue.Waiting)
}

// leaseElsewhereCharges: a lease has the charge of the want, whichever job is leased.
func leaseElsewhereCharges(s *suite) {
	gone := s.submit(job())[0]
	s.take(gone)
	x := s.submit(job(), job())
	_, err := s.Lease(s.ctx, "agent", []queue.Want{{Job: gone, Charge: 2.5, Else: x[1:]}, {Job: x[0], Charge: 1.5}}, ttl)
	s.must(err)
	for i, want := range []float64{1.5, 2.5} {
		if tasks, err := s.Tasks(s.ctx, x[i]); err != nil || len(tasks) != 1 || tasks[0].Charge != want {
			s.t.Errorf("tasks %+v (%v), want the charge %g", tasks, err, want)
		}
	}
}

// concurrentElse: many callers that want the same job, with the same list of alternates, get all available jobs, each
// job once.
func concurrentElse(s *suite) {
	const callers, batch = 8, 25
	ids := s.submit(slices.Repeat([]*queue.Job{job()}, callers*batch)...)
	var mu sync.Mutex
	taken := map[int64]int{}
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			wants := make([]queue.Want, batch)
			for i := range wants {
				wants[i] = queue.Want{Job: ids[i], Else: ids[batch:]}
			}
			grants, err := s.Lease(context.Background(), "agent", wants, ttl)
			if err != nil {
				s.t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, g := range grants {
				if g.Lease != nil {
					taken[g.Lease.JobID]++
				}
			}
		})
	}
	wg.Wait()
	for id, n := range taken {
		if n != 1 {
			s.t.Errorf("job %d was leased %d times", id, n)
		}
	}
	if len(taken) != len(ids) {
		s.t.Errorf("%d of %d jobs were leased", len(taken), len(ids))
	}
}
