package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// starvingShares guarantee urgent two of four slots after a minute below that.
func starvingShares(grace time.Duration) fairlead.Shares {
	s := fairlead.DefaultShares()
	s.Sched.Root = share.Pool{Policy: "fair", Reclaim: share.Reclaim{MinAfter: time.Minute}, Pools: []share.Pool{
		{Name: "big", Weight: 1}, {Name: "urgent", Weight: 1, Min: map[string]int64{"cpu": 2}},
	}}
	s.Sched.Reclaim.Grace = grace
	return s
}

// attempts counts how handlers of each job ended.
type attempts struct {
	mu      sync.Mutex
	stopped map[int64]int
	tries   map[int64]int
}

// handle runs for an hour, unless it has to stop.
func (a *attempts) handle(ctx context.Context, l *fairlead.Lease) error {
	a.mu.Lock()
	a.tries[l.JobID] = max(a.tries[l.JobID], l.Attempt)
	a.mu.Unlock()
	select {
	case <-time.After(time.Hour):
		return nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if errors.Is(context.Cause(ctx), engine.ErrStopped) {
		a.stopped[l.JobID]++
	}
	return ctx.Err()
}

// TestStarvingPoolGetsRoom: handlers of another pool are stopped for it, their tasks wait
// again without another attempt being counted, and the cause of their stop is kept.
func TestStarvingPoolGetsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &attempts{stopped: map[int64]int{}, tries: map[int64]int{}}
		l, end := start(t, engine.LoopOptions{Shares: starvingShares(30 * time.Minute)}, 4, a.handle)
		defer end()
		flood := enginetest.Submit(t, l, fairlead.Job{User: "ann", Pool: "big", Array: "1-4"})[0]
		time.Sleep(10 * time.Second)
		urgent := enginetest.Submit(t, l, fairlead.Job{User: "ben", Pool: "urgent", Array: "1-2"})[0]
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if enginetest.State(t, l, urgent) != fairlead.Waiting {
			t.Fatal("it runs before its time")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		j, err := l.Client().Job(t.Context(), urgent)
		if err != nil || j.Running != 2 {
			t.Fatalf("%d of the urgent run: %v", j.Running, err)
		}
		if a.stopped[flood] != 2 {
			t.Errorf("%d handlers were stopped", a.stopped[flood])
		}
		stops, err := l.Stops(t.Context(), queue.StopQuery{})
		if err != nil || len(stops) != 2 {
			t.Fatalf("%d stops: %v", len(stops), err)
		}
		x := stops[0].Reason
		if x.Rule != "min-share" || x.For != "urgent" || x.Goal != 2 || x.From != "big" || x.FromRunning != 4 || x.Lost != x.Seconds || x.Next != urgent {
			t.Errorf("stop %+v", x)
		}
		if s := l.Stats().Stops["min-share"]; s.Tasks != 2 || s.Lost != 2*x.Lost {
			t.Errorf("counted %+v", s)
		}
		a.waits(t, l, flood)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if j, err := l.Client().Job(t.Context(), flood); err != nil || j.State != fairlead.Succeeded || a.tries[flood] != 2 {
			t.Errorf("at the end it is %s after %d tries: %v", j.State, a.tries[flood], err)
		}
	})
}

// waits checks that a job says by what it was stopped.
func (a *attempts) waits(t *testing.T, l *engine.Loop, id int64) {
	t.Helper()
	answer, err := forecast.New(l).Why(t.Context(), id, explain.WhyOptions{})
	if err != nil || answer.Stop == nil || answer.Stop.Rule != "min-share" {
		t.Fatalf("why: %+v, %v", answer.Stop, err)
	}
	tasks, err := l.Client().Tasks(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range tasks {
		if k.Fails != 0 || k.Losses != 0 {
			t.Errorf("task %d counts %d failures and %d losses", k.Index, k.Fails, k.Losses)
		}
	}
}

// TestGraceOverRestart: a loop that begins again knows which jobs were stopped, and does
// not stop them again within the grace period.
func TestGraceOverRestart(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New("cpu")
			a := &attempts{stopped: map[int64]int{}, tries: map[int64]int{}}
			run := func(f func(*engine.Loop)) {
				ctx, cancel := context.WithCancel(t.Context())
				l, err := newLoop(ctx, store, engine.LoopOptions{Shares: starvingShares(grace)})
				if err != nil {
					t.Fatal(err)
				}
				var wg sync.WaitGroup
				wg.Go(func() { l.Run(ctx) })
				wg.Go(func() {
					l.Work(ctx, engine.WorkOptions{Slots: 4, Grace: time.Second, Handlers: map[string]engine.Handler{"work": engine.HandlerFunc(a.handle)}})
				})
				f(l)
				cancel()
				wg.Wait()
			}
			var flood, urgent int64
			run(func(l *engine.Loop) {
				flood = enginetest.Submit(t, l, fairlead.Job{User: "ann", Pool: "big", Array: "1-4"})[0]
				time.Sleep(time.Second)
				urgent = enginetest.Submit(t, l, fairlead.Job{User: "ben", Pool: "urgent"})[0]
				time.Sleep(2 * time.Minute)
				if err := l.Client().Cancel(t.Context(), urgent); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			})
			before := a.stopped[flood]
			if before != 1 {
				t.Fatalf("%d were stopped", before)
			}
			run(func(l *engine.Loop) {
				time.Sleep(time.Second)
				enginetest.Submit(t, l, fairlead.Job{User: "ben", Pool: "urgent"})
				time.Sleep(5 * time.Minute)
			})
			if again := a.stopped[flood] > before; again != (grace == 0) {
				t.Errorf("grace %v: stopped %d times before the restart and %d after it", grace, before, a.stopped[flood]-before)
			}
		})
	}
}
