package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

func TestJobsRunAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 2, func(ctx context.Context, l *fairlead.Lease) error {
			time.Sleep(time.Second)
			if l.Job.Name == "bad" {
				return errors.New("it went wrong")
			}
			if l.Job.Name == "panic" {
				panic("oh")
			}
			return nil
		})
		defer stop()
		ids := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Array: "0-4"},
			fairlead.Job{User: "bob", Name: "bad"}, fairlead.Job{User: "bob", Name: "panic"})
		time.Sleep(10 * time.Second)
		for i, want := range []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Failed} {
			if got := enginetest.State(t, loop, ids[i]); got != want {
				t.Errorf("job %d is %s, want %s", ids[i], got, want)
			}
		}
	})
}

func TestCancelStopsTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 1, func(ctx context.Context, l *fairlead.Lease) error {
			<-ctx.Done()
			return ctx.Err()
		})
		defer stop()
		id := enginetest.Submit(t, loop, fairlead.Job{User: "ann"})[0]
		synctest.Wait()
		if err := loop.Client().Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := enginetest.State(t, loop, id); got != fairlead.Cancelled {
			t.Errorf("job is %s", got)
		}
	})
}

func TestLimitsBeginAndRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		began := map[string][]time.Duration{}
		zero := time.Now()
		loop, stop := start(t, engine.LoopOptions{}, 4, func(ctx context.Context, l *fairlead.Lease) error {
			mu.Lock()
			began[l.Job.Name] = append(began[l.Job.Name], time.Since(zero))
			mu.Unlock()
			switch l.Job.Name {
			case "slow":
				<-ctx.Done()
				return ctx.Err()
			case "flaky":
				if l.Attempt < 3 {
					return errors.New("not yet")
				}
			}
			return nil
		})
		defer stop()
		ids := enginetest.Submit(t, loop,
			fairlead.Job{User: "ann", Name: "slow", Limit: time.Minute},
			fairlead.Job{User: "ann", Name: "late", Begin: zero.Add(time.Hour)},
			fairlead.Job{User: "ann", Name: "flaky", Retries: 2, Backoff: 10 * time.Second},
		)
		time.Sleep(2 * time.Hour)
		slow, _ := loop.Client().Job(t.Context(), ids[0])
		if slow.State != fairlead.Failed || slow.Ended.Sub(slow.Started) != time.Minute || slow.Cause != "time limit of 1m0s" {
			t.Errorf("slow: %s after %v: %s", slow.State, slow.Ended.Sub(slow.Started), slow.Cause)
		}
		want := map[string][]time.Duration{"slow": {0}, "late": {time.Hour}, "flaky": {0, 10 * time.Second, 30 * time.Second}}
		if fmt.Sprint(began) != fmt.Sprint(want) {
			t.Errorf("began %v, want %v", began, want)
		}
		if got := enginetest.State(t, loop, ids[2]); got != fairlead.Succeeded {
			t.Errorf("flaky is %s", got)
		}
	})
}

// TestSameOrder runs one workload through the live loop and through the core driven in
// virtual time: both start the same tasks in the same order at the same instants.
func TestSameOrder(t *testing.T) {
	for _, policy := range []string{"fair", "fifo", "lottery"} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorkload(policy, time.Now())
				live := w.live(t)
				if simulated := w.simulate(t); !slices.Equal(live, simulated) {
					for i := range min(len(live), len(simulated)) {
						if live[i] != simulated[i] {
							t.Fatalf("start %d: live %v, simulated %v", i, live[i], simulated[i])
						}
					}
					t.Fatalf("%d live starts, %d simulated", len(live), len(simulated))
				}
			})
		})
	}
}

type workload struct {
	policy string
	zero   time.Time
	jobs   []fairlead.Job
	at     []time.Duration // of submission
	length map[string]time.Duration
}

const workloadSlots = 5

func newWorkload(policy string, zero time.Time) *workload {
	w := &workload{policy: policy, zero: zero, length: map[string]time.Duration{}}
	for _, a := range enginetest.Arrivals() {
		w.jobs, w.at = append(w.jobs, a.Job), append(w.at, a.At)
		w.length[a.Job.Name] = a.Lasts
	}
	return w
}

func (w *workload) options() engine.LoopOptions {
	o := engine.LoopOptions{Shares: fairlead.DefaultShares(), Seed: 3}
	o.Shares.Sched.Root.Policy = w.policy
	return o
}

type startedTask struct {
	job int64
	at  time.Duration
}

func (w *workload) live(t *testing.T) []startedTask {
	var mu sync.Mutex
	var starts []startedTask
	loop, stop := start(t, w.options(), workloadSlots, func(ctx context.Context, l *fairlead.Lease) error {
		mu.Lock()
		starts = append(starts, startedTask{l.JobID, time.Since(w.zero)})
		mu.Unlock()
		time.Sleep(w.length[l.Job.Name] + time.Duration(l.Task))
		return nil
	})
	defer stop()
	for i, j := range w.jobs {
		time.Sleep(time.Until(w.zero.Add(w.at[i])))
		enginetest.Submit(t, loop, j)
		synctest.Wait()
	}
	time.Sleep(time.Hour)
	mu.Lock()
	defer mu.Unlock()
	return starts
}

// simulate drives the core alone, with a list of what happens when.
func (w *workload) simulate(t *testing.T) []startedTask {
	o := w.options()
	core, err := sched.New(o.Shares.Sched, w.zero, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	core.Join("local", cluster.Amounts{"cpu": workloadSlots, "handler.work": 1 << 40}, w.zero)
	type end struct {
		at  time.Duration
		run sched.RunID
	}
	var ends []end
	var starts []startedTask
	next, tasks := 0, map[int64]int{}
	for next < len(w.jobs) || len(ends) > 0 {
		now := time.Duration(1<<62 - 1)
		if next < len(w.jobs) {
			now = w.at[next]
		}
		if len(ends) > 0 && ends[0].at <= now {
			now = ends[0].at
			core.Finish(ends[0].run, w.zero.Add(now), true)
			ends = ends[1:]
		} else {
			j := w.jobs[next]
			n, most, _ := queue.ParseArray(j.Array)
			next++
			core.Add(sched.Job{
				ID: int64(next), Pool: core.Pool(j.User), Tasks: n.Len(), MaxRunning: most,
				Priority: slices.Index([]string{"very_high", "high", "normal", "low", "very_low"}, j.Priority),
				Key:      core.Key(cluster.Amounts{"handler.work": 1}),
			}, w.zero.Add(now))
		}
		var d sched.Decision
		for more := true; more; more = d.More {
			core.Step(w.zero.Add(now), 0, &d)
			for _, s := range d.Starts {
				starts = append(starts, startedTask{s.Job, now})
				length := w.length[w.jobs[s.Job-1].Name] + time.Duration(tasks[s.Job])
				tasks[s.Job]++
				ends = append(ends, end{now + length, s.Run})
			}
		}
		slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.at, b.at) })
	}
	return starts
}
