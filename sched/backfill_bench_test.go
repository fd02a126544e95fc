package sched_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// crowd is a full cluster with this number of waiting jobs, of random sizes and with time limits as users set them.
func crowd(b *testing.B, policyName string, backfill sched.Backfill, waiting int) (*sched.Scheduler, []sched.RunID) {
	s, err := sched.New(sched.Config{Root: share.Pool{Policy: policyName}, NewPolicy: policy.New(policy.Options{}), Backfill: backfill}, epoch, 1)
	if err != nil {
		b.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 1024}, epoch)
	rng := rand.New(rand.NewPCG(1, 2))
	limits := []time.Duration{10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour}
	var d sched.Decision
	var runs []sched.RunID
	for i := range waiting + 300 {
		s.Add(sched.Job{
			ID: int64(i + 1), Pool: s.Pool(fmt.Sprint("u", rng.IntN(100))), Priority: normal, Tasks: 1, Submitted: epoch,
			Key: s.Key(cluster.Amounts{"cpu": 1 << rng.IntN(9)}), Limit: limits[rng.IntN(len(limits))],
		}, epoch)
		if i < 300 {
			s.Step(epoch, 0, &d)
			for _, st := range d.Starts {
				runs = append(runs, st.Run)
			}
		}
	}
	return s, runs
}

// BenchmarkConservativePass measures three passes over all waiting jobs: the first pass after they were submitted; the
// same pass with an answer to when each job will start; and a pass after a task has ended.
func BenchmarkConservativePass(b *testing.B) {
	for _, name := range []string{"fifo", "fair"} {
		for _, waiting := range []int{1000, 30_000} {
			b.Run(fmt.Sprintf("policy=%s/waiting=%d/first", name, waiting), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					s, _ := crowd(b, name, sched.Conservative, waiting)
					var d sched.Decision
					b.StartTimer()
					s.Step(epoch, 0, &d)
				}
			})
			b.Run(fmt.Sprintf("policy=%s/waiting=%d/asked", name, waiting), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					s, _ := crowd(b, name, sched.Conservative, waiting)
					var d sched.Decision
					b.StartTimer()
					s.Step(epoch, 0, &d)
					if kept := s.Read().Kept(); len(kept) < waiting {
						b.Fatalf("room is kept for %d of %d jobs", len(kept), waiting)
					}
				}
			})
			b.Run(fmt.Sprintf("policy=%s/waiting=%d/end", name, waiting), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					s, runs := crowd(b, name, sched.Conservative, waiting)
					var d sched.Decision
					s.Step(epoch, 0, &d)
					at := epoch.Add(time.Minute)
					s.Finish(runs[0], at, true)
					b.StartTimer()
					s.Step(at, 0, &d)
				}
			})
		}
	}
}

// BenchmarkForecast measures how long it takes to find when a job in the middle and the
// last one will start.
func BenchmarkForecast(b *testing.B) {
	for _, backfill := range []sched.Backfill{sched.FirstFit, sched.EASY, sched.Conservative} {
		const waiting = 100_000
		s, _ := crowd(b, "fair", backfill, waiting)
		cfg := s.Read().Config()
		if cfg.Depth = 1000; s.Configure(cfg, epoch) != nil {
			b.Fatal("a depth is refused")
		}
		var d sched.Decision
		s.Step(epoch, 0, &d)
		for name, job := range map[string]int64{"early": 1000, "middle": waiting / 2, "last": waiting} {
			b.Run(fmt.Sprintf("%v/%s", backfill, name), func(b *testing.B) {
				for b.Loop() {
					f := s.Fork().AsFuture(&sched.Room{}).Forecast(job,
						func(f sched.Forecast) bool { return f.Starts < 60_000 },
						func(t sched.Task) time.Time { return t.Started.Add(t.Limit) })
					b.ReportMetric(float64(f.Starts), "starts")
				}
			})
		}
	}
}
