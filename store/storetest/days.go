package storetest

import (
	"math"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// daysAreKept charges an attempt and checks the usage by days, then sets the usage of the pool.
func daysAreKept(s *suite) {
	keeper, is := s.Store.(queue.DayKeeper)
	charger, can := s.Store.(queue.Charger)
	acc, has := s.Store.(queue.Accountant)
	if !is || !can || !has {
		s.t.Skip("the store keeps no days")
	}
	run := func() float64 {
		id := s.submit(job(func(j *queue.Job) { j.Request = queue.Amounts{"cpu": 2} }))[0]
		l := s.take(id)
		time.Sleep(5 * time.Millisecond)
		s.finish(l.Ref, ok)
		tasks, err := s.Tasks(s.ctx, id)
		s.must(err)
		return 2 * tasks[0].Ended.Sub(tasks[0].Started).Seconds()
	}
	sum := func() (used float64) {
		days, err := keeper.Days(s.ctx)
		s.must(err)
		for _, d := range days {
			if d.Pool != "a" || d.Day.After(time.Now()) || time.Since(d.Day) > 48*time.Hour {
				s.t.Errorf("day %+v", d)
			}
			used += d.Used
		}
		return used
	}
	run()
	if got := sum(); got != 0 {
		s.t.Errorf("%v kept before anybody asked for it", got)
	}
	s.must(keeper.KeepDays(s.ctx, 7))
	want := run() + run()
	if got := sum(); math.Abs(got-want) > 1e-3 {
		s.t.Errorf("the days hold %v, want %v", got, want)
	}
	s.must(charger.SetUsed(s.ctx, map[string]float64{"a": 3600}))
	u, err := acc.Usage(s.ctx)
	s.must(err)
	if got := u.Pools["a"].Used; math.Abs(got-3600) > 1 || math.Abs(sum()-3600) > 1e-6 {
		s.t.Errorf("used %v and %v by days after it was set to 3600", got, sum())
	}
	s.must(charger.SetUsed(s.ctx, map[string]float64{"a": 0}))
	if got := sum(); got != 0 {
		s.t.Errorf("the days hold %v after it was forgotten", got)
	}
	s.must(keeper.KeepDays(s.ctx, 0))
	run()
	if got := sum(); got != 0 {
		s.t.Errorf("%v kept although nobody asks for it any more", got)
	}
}
