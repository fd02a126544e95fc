package storetest

import (
	"math"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// usageStaysFinite: stores keep amounts with weights that grow with time. They must be correct after any number of
// half-lives, one at a time or all at once.
func usageStaysFinite(s *suite) {
	acc, is := s.Store.(queue.Accountant)
	if !is {
		s.t.Skip("the store keeps no accounts")
	}
	const half = time.Second
	s.must(acc.SetHalfLife(s.ctx, half))
	most := half.Seconds() / math.Ln2 // decayed service of one slot that was always busy
	used := func(pool string, want float64) {
		s.t.Helper()
		u, err := acc.Usage(s.ctx)
		s.must(err)
		a := u.Pools[pool]
		if !(math.Abs(a.Used-want) <= 1e-6*most) || !(a.Seen >= 0 && a.Seen < 3) || math.IsNaN(a.Mean+a.Total) || math.IsInf(a.Mean+a.Total, 0) {
			s.t.Fatalf("pool %s used %v, want %v: %+v", pool, a.Used, want, a)
		}
	}
	run := func(pool string, d time.Duration) {
		l := s.take(s.submit(job(func(j *queue.Job) { j.Pool = pool }))[0])
		time.Sleep(d)
		if v := s.finish(l.Ref, ok); v.Err != nil {
			s.t.Fatal(v.Err)
		}
	}
	run("b", 10*time.Second)
	b := most * (1 - math.Exp2(-10))
	used("b", b)
	a := 0.0
	for n := range 60 { // 20 minutes, 1200 half-lives; every other second is busy
		time.Sleep(19 * time.Second)
		run("a", time.Second)
		a = a*math.Exp2(-20) + most/2
		used("a", a)
		used("b", b*math.Exp2(-20*float64(n+1)))
	}
	for _, gap := range []time.Duration{20 * time.Minute, 18 * time.Hour, 400 * 24 * time.Hour} {
		time.Sleep(gap)
		used("a", 0)
		run("a", 10*time.Second)
		used("a", b)
		run("a", gap)
		used("a", most)
	}
}
