package storetest

import (
	"fmt"
	"math"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// chargeOfTheStart: an attempt has the charge given at its lease, however it ends, and a snapshot shows it. An attempt
// without a given charge is charged for its units.
func chargeOfTheStart(s *suite) {
	acc, is := s.Store.(queue.Accountant)
	if !is {
		s.t.Skip("the store keeps no accounts")
	}
	s.must(acc.SetHalfLife(s.ctx, 0))
	in := func(pool string, tasks int) int64 {
		return s.submit(job(func(j *queue.Job) {
			j.Pool, j.Request = pool, queue.Amounts{"cpu": 3}
			if tasks > 1 {
				j.Array = fmt.Sprint("1-", tasks)
			}
		}))[0]
	}
	one, array, lost, plain := in("one", 1), in("array", 2), in("lost", 1), in("plain", 1)
	take := func(holder string, id int64, charge float64) queue.Ref {
		g, err := s.Lease(s.ctx, holder, []queue.Want{{Job: id, Charge: charge}}, time.Hour)
		s.must(err)
		return g[0].Lease.Ref
	}
	ends := []queue.Ref{take("h", one, 2.5), take("h", array, 0.5), take("h", array, 20), take("h", plain, 0)}
	take("gone", lost, 7)
	gang := s.submit(job(func(j *queue.Job) { j.Pool, j.Gang = "gang", 2 }))[0]
	g, err := s.Lease(s.ctx, "", []queue.Want{{Job: gang, Nodes: []string{"h", "i"}, Charge: 4}}, time.Hour)
	s.must(err)
	for _, l := range g[0].Gang {
		ends = append(ends, l.Ref)
	}
	charges := map[int64]float64{}
	_, err = s.Snapshot(s.ctx, func(c queue.Change) error {
		for _, r := range c.Runs {
			charges[r.JobID] += r.Charge
		}
		return nil
	})
	s.must(err)
	if charges[one] != 2.5 || charges[array] != 20.5 || charges[lost] != 7 || charges[gang] != 8 || charges[plain] != 0 {
		s.t.Errorf("the snapshot tells charges of %v", charges)
	}
	time.Sleep(20 * time.Millisecond)
	for _, ref := range ends {
		s.finish(ref, ok)
	}
	_, err = s.Expire(s.ctx, "gone")
	s.must(err)
	u, err := acc.Usage(s.ctx)
	s.must(err)
	want := map[string]float64{}
	for pool, id := range map[string]int64{"one": one, "array": array, "plain": plain, "gang": gang} {
		tasks, err := s.Tasks(s.ctx, id)
		s.must(err)
		for _, k := range tasks {
			rate := k.Charge
			if pool == "plain" {
				rate = 3
			}
			want[pool] += rate * k.Ended.Sub(k.Started).Seconds()
		}
		if got := u.Pools[pool].Used; math.Abs(got-want[pool]) > 0.02*want[pool] || want[pool] == 0 {
			s.t.Errorf("pool %s was charged %v, want %v", pool, got, want[pool])
		}
	}
	if got := u.Pools["lost"].Used; got < 7*0.02 {
		s.t.Errorf("the lost attempt was charged %v, want 7 a second for more than 20 ms", got)
	}
}
