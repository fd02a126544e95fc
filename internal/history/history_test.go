package history_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// recorded runs a loop with a recorder of its pools. Without a handler it has no node.
func recorded(t *testing.T, store queue.Store, o engine.LoopOptions, slots int, h engine.HandlerFunc) (
	loop *engine.Loop, rc *history.Recorder, stop func(),
) {
	t.Helper()
	loop, stop = enginetest.StartOn(t, store, o, slots, h, func(l *engine.Loop) {
		rc = history.New(l)
		rc.Keep()
	})
	return loop, rc, stop
}

// course reads the history of a pool.
func course(t *testing.T, rc *history.Recorder, pool string, from, to time.Time,
	step time.Duration) []history.HistoryPoint {
	t.Helper()
	v, err := rc.PoolHistory(t.Context(), []string{pool}, from, to, step)
	if err != nil {
		t.Fatal(err)
	}
	return v.Pools[0]
}

func alike(a, b float64) bool { return math.Abs(a-b) < 0.02 }

// TestPoolHistory: two of four slots are busy for 150 s of the first five minutes, while
// a third job waits for a missing resource; then the server is away for ten minutes.
func TestPoolHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zero := time.Now().Truncate(time.Hour).Add(time.Hour)
		time.Sleep(time.Until(zero))
		store := memory.New("cpu")
		loop, rc, stop := recorded(t, store, engine.LoopOptions{}, 4,
			func(ctx context.Context, l *fairlead.Lease) error {
				time.Sleep(150 * time.Second)
				return nil
			})
		at := time.Now()
		job := fairlead.Job{User: "ann", Pool: "ann"}
		enginetest.Submit(t, loop, job, job,
			fairlead.Job{User: "ann", Pool: "ann", Request: fairlead.Amounts{"cpu": 9}})
		time.Sleep(10*time.Minute - time.Since(at) + time.Second)
		synctest.Wait()
		fine := course(t, rc, "ann", zero, zero.Add(5*time.Minute), 10*time.Second)
		if len(fine) != 30 {
			t.Fatalf("%d steps of 10 s in five minutes", len(fine))
		}
		for i, p := range fine[1:29] {
			running := 2.0
			if i >= 14 {
				running = 0
			}
			if !alike(p.Running, running) || !alike(p.Demand, running+9) && i > 14 || p.Seconds != 10 ||
				!alike(p.Waiting, 1) {
				t.Errorf("step %d: %+v, want %v running", i+1, p, running)
			}
			if wait := float64(i+2) * 10; p.OldestWait < wait-3 || p.OldestWait > wait+1 {
				t.Errorf("step %d: the oldest waited %v s, want %v", i+1, p.OldestWait, wait)
			}
		}
		if p := course(t, rc, "ann", zero, zero.Add(5*time.Minute), 5*time.Minute); len(p) != 1 ||
			!alike(p[0].Running, 1) || p[0].Share == nil || *p[0].Share != 1 {
			t.Errorf("of five minutes: %+v, want 1 running", p)
		}
		stop()
		back := zero.Add(20 * time.Minute)
		time.Sleep(time.Until(back))
		_, rc, stop = recorded(t, store, engine.LoopOptions{}, 4, nil)
		defer stop()
		time.Sleep(5 * time.Minute)
		for _, p := range course(t, rc, "ann", zero, time.Now(), 10*time.Second) {
			if p.At.After(zero.Add(10*time.Minute+time.Second)) && p.At.Before(back) {
				t.Errorf("there is a step while nobody was there: %+v", p)
			}
		}
		if p := course(t, rc, "", zero, time.Now(), time.Hour); len(p) != 1 || math.Abs(p[0].Seconds-900) > 5 {
			t.Errorf("of the hour: %+v, of which 15 minutes are known", p)
		}
		if _, err := rc.PoolHistory(t.Context(), []string{"nobody"}, zero, time.Now(), 0); !errors.Is(err,
			fairlead.ErrNotFound) {
			t.Errorf("a pool that there is not: %v", err)
		}
		if _, err := rc.PoolHistory(t.Context(), []string{""}, zero.Add(-20*time.Hour*24), time.Now(),
			10*time.Second); err != nil {
			t.Errorf("older than the finest steps: %v", err)
		}
		if _, err := rc.PoolHistory(t.Context(), []string{""}, zero, time.Now().AddDate(100, 0, 0),
			time.Second); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("of a hundred years in steps of a second: %v", err)
		}
		if _, err := rc.PoolHistory(t.Context(), []string{""}, time.Now(), time.Now(), 0); !errors.Is(err,
			fairlead.ErrInvalid) {
			t.Errorf("of no time: %v", err)
		}
	})
}

// slowHistory is a store in which it takes two minutes to read the history, once it is slow.
type slowHistory struct {
	*memory.Store
	slow atomic.Bool
}

func (s *slowHistory) PoolHistory(ctx context.Context, q queue.HistoryQuery) ([]queue.PoolHistory, error) {
	all, err := s.Store.PoolHistory(ctx, q)
	if s.slow.Load() {
		time.Sleep(2 * time.Minute)
	}
	return all, err
}

// TestHistoryWhileItIsWritten: a reader of the history misses no steps that are written to the store meanwhile.
func TestHistoryWhileItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowHistory{Store: memory.New("cpu")}
		_, rc, stop := recorded(t, store, engine.LoopOptions{}, 4, nil)
		defer stop()
		zero := time.Now()
		time.Sleep(10*time.Minute - time.Second)
		store.slow.Store(true)
		seconds := 0.0
		for _, p := range course(t, rc, "", zero, time.Now(), time.Minute) {
			seconds += p.Seconds
		}
		if math.Abs(seconds-599) > 5 {
			t.Errorf("%v seconds of ten minutes are known", seconds)
		}
	})
}

// dutiful is a store that servers share; the server with a name has the duties.
type dutiful struct {
	*memory.Store
	mu  sync.Mutex
	has string
}

func (d *dutiful) Announce(_ context.Context, s queue.Server, _ time.Duration) (queue.Roll, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return queue.Roll{Stops: s.Name == d.has}, nil
}
func (d *dutiful) Servers(context.Context) ([]queue.Server, error) { return nil, nil }
func (d *dutiful) Retire(context.Context, string) error            { return nil }
func (d *dutiful) Recheck(context.Context, []int64) ([]queue.Change, int64, error) {
	return nil, 0, nil
}

func (d *dutiful) give(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.has = name
}

// TestPoolHistoryOfSeveral: first one of two servers writes, then the other, which knows the steps that the first no
// longer wrote. Both give the same answer.
func TestPoolHistoryOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zero := time.Now().Truncate(time.Hour).Add(time.Hour)
		time.Sleep(time.Until(zero))
		store := &dutiful{Store: memory.New("cpu"), has: "a"}
		a, ofA, stop := recorded(t, store, engine.LoopOptions{Name: "a"}, 0, nil)
		defer stop()
		_, ofB, stopB := recorded(t, store, engine.LoopOptions{Name: "b"}, 0, nil)
		defer stopB()
		enginetest.Submit(t, a, fairlead.Job{User: "ann", Pool: "ann"}, fairlead.Job{User: "ann", Pool: "ann"})
		check := func(rc *history.Recorder) {
			t.Helper()
			now := time.Now()
			steps := course(t, rc, "ann", zero, now, 10*time.Second)
			if want := int(now.Sub(zero) / (10 * time.Second)); len(steps) < want || len(steps) > want+1 {
				t.Fatalf("%d steps after %v", len(steps), now.Sub(zero))
			}
			for i, p := range steps[1 : len(steps)-1] {
				if !alike(p.Waiting, 2) || p.Seconds != 10 {
					t.Errorf("step %d of %d: %+v, want 2 waiting", i+1, len(steps), p)
				}
			}
		}
		for _, next := range []string{"a", "b", "a"} {
			store.give(next)
			time.Sleep(145 * time.Second)
			check(ofA)
			check(ofB)
		}
		if p := course(t, ofB, "ann", zero, time.Now(), 5*time.Minute); len(p) != 2 ||
			math.Abs(p[0].Waiting-2) > 0.05 || math.Abs(p[0].Seconds-300) > 1 {
			t.Errorf("in steps of five minutes: %+v", p)
		}
	})
}
