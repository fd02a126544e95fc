package storetest

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// balanceIsOfOneMoment: attempts end while the jobs and the accounts are read. Each of them is either running or in the
// accounts, and the changes after the cursor are the ends of the running ones.
func balanceIsOfOneMoment(s *suite) {
	acc, is := s.Store.(queue.Accountant)
	if !is {
		s.t.Skip("the store keeps no accounts")
	}
	keeper, days := s.Store.(queue.DayKeeper)
	s.must(acc.SetHalfLife(s.ctx, 0))
	if days {
		s.must(keeper.KeepDays(s.ctx, 7))
	}
	const rounds, jobs = 12, 10
	for round := range rounds {
		var refs []queue.Ref
		for _, id := range s.submit(many(jobs)...) {
			refs = append(refs, s.take(id).Ref)
		}
		time.Sleep(time.Second)
		var once sync.Once
		var ending sync.WaitGroup
		runs := 0
		b, err := acc.Balance(s.ctx, func(c queue.Change) error {
			if c.What == queue.Runs {
				runs += len(c.Runs)
			}
			once.Do(func() { ending.Go(func() { s.endEach(refs) }) })
			return nil
		})
		s.must(err)
		a := b.Accounts.Pools["a"]
		if got, want := int(a.Ended)+runs, (round+1)*jobs; got != want || int(a.Running) != runs {
			s.t.Errorf("round %d: %d attempts ended and %d run (%d by the counters), want %d in all", round, a.Ended, runs, a.Running, want)
		}
		byDay := 0.0
		for _, d := range b.Days {
			byDay += d.Used
		}
		if days && math.Abs(byDay-a.Total) > 1e-6 {
			s.t.Errorf("round %d: %v by days, %v in all", round, byDay, a.Total)
		}
		ending.Wait()
		done := 0
		changes, _ := s.changes(b.Cursor)
		for _, c := range changes {
			if c.What == queue.Done {
				done++
			}
		}
		if done != runs {
			s.t.Errorf("round %d: %d ran, and the changes after tell of %d that ended", round, runs, done)
		}
		only, err := acc.Balance(s.ctx, nil)
		s.must(err)
		if a := only.Accounts.Pools["a"]; int(a.Ended) != (round+1)*jobs || only.Cursor < b.Cursor {
			s.t.Errorf("round %d: afterwards the accounts are %+v at %d, which was %d", round, a, only.Cursor, b.Cursor)
		}
	}
}

func many(n int) (jobs []*queue.Job) {
	for range n {
		jobs = append(jobs, job())
	}
	return jobs
}

// endEach ends attempts one by one.
func (s *suite) endEach(refs []queue.Ref) {
	for _, r := range refs {
		if _, err := s.Finish(context.WithoutCancel(s.ctx), []queue.Result{{Ref: r, Outcome: ok}}); err != nil {
			s.t.Error(err)
		}
	}
}
