package sched_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// lasting is a world in which tasks of known lengths start and end.
type lasting struct {
	*world
	lengths map[int64]time.Duration
	ends    map[sched.RunID]time.Time
	began   map[int64]time.Time
	jobs    map[int64]sched.Job
	remake  map[int64]func(*lasting) sched.Job
	runs    map[sched.RunID]int64 // the jobs of all tasks that started
}

func newLasting(t *testing.T, tree share.Pool, backfill sched.Backfill) *lasting {
	s, err := sched.New(sched.Config{Root: tree, NewPolicy: policy.New(policy.Options{}), Backfill: backfill}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		s.Join(fmt.Sprint("n", i+1), cluster.Amounts{"cpu": 4}, epoch)
	}
	return &lasting{world: &world{Scheduler: s, now: epoch}, lengths: map[int64]time.Duration{},
		ends: map[sched.RunID]time.Time{}, began: map[int64]time.Time{}, jobs: map[int64]sched.Job{},
		remake: map[int64]func(*lasting) sched.Job{}, runs: map[sched.RunID]int64{}}
}

// usersOf returns a tree of three users.
func usersOf(policy string) share.Pool {
	root := share.Pool{Policy: policy}
	for _, user := range []string{"a", "b", "c"} {
		root.Pools = append(root.Pools, share.Pool{Name: user, Weight: 1})
	}
	return root
}

// add submits a job of one task, or a gang on this number of nodes.
func (w *lasting) add(pool string, nodes int, cpus int64, length, limit time.Duration) int64 {
	w.last++
	w.lengths[w.last] = length
	ask := sched.Request{Amounts: cluster.Amounts{"cpu": cpus}}
	if nodes > 1 {
		ask.Gang, ask.Spread = nodes, true
	}
	id, at := w.last, w.now
	w.remake[id] = func(w *lasting) sched.Job {
		return sched.Job{ID: id, Pool: w.Pool(pool), Key: w.KeyOf(ask), Priority: normal, Tasks: nodes, Limit: limit,
			Submitted: at}
	}
	j := w.remake[id](w)
	w.jobs[j.ID] = j
	w.Add(j, w.now)
	w.play(w.now)
	return w.last
}

// play lets time pass.
func (w *lasting) play(until time.Time) {
	for {
		for _, st := range w.step(0) {
			w.ends[st.Run], w.began[st.Job] = w.now.Add(w.lengths[st.Job]), w.now
			w.runs[st.Run] = st.Job
		}
		next := until
		if at := w.d.Next; at.After(w.now) && at.Before(next) {
			next = at
		}
		for _, at := range w.ends {
			if at.Before(next) {
				next = at
			}
		}
		if !w.now.Before(until) {
			return
		}
		w.now = next
		for _, run := range w.over() {
			delete(w.ends, run)
			w.Finish(run, w.now, true)
		}
	}
}

// over lists the tasks that end now, always in the same order.
func (w *lasting) over() (runs []sched.RunID) {
	for run, at := range w.ends {
		if !at.After(w.now) {
			runs = append(runs, run)
		}
	}
	slices.Sort(runs)
	return runs
}

// TestShortTasksRunUntilAWindow: a maintenance is coming, and one wide job without a time limit has to wait until it
// is over. Meanwhile short tasks without a time limit use the machine, until ten times their length before it begins.
func TestShortTasksRunUntilAWindow(t *testing.T) {
	for _, backfill := range backfills {
		w := newLasting(t, usersOf("fair"), backfill)
		from, to := epoch.Add(2*time.Hour), epoch.Add(3*time.Hour)
		service := cluster.Window{Name: "service", Nodes: []string{"n2"}, Closed: true}
		service.From, service.To = from.UnixNano(), to.UnixNano()
		w.SetWindows([]cluster.Window{service}, w.now)
		var last int64
		for range 1000 {
			last = w.add("a", 1, 1, 3*time.Second, 0)
		}
		wide := w.add("b", 2, 4, 2*time.Second, 0)
		w.play(epoch.Add(20 * time.Minute))
		if at := w.began[last]; at.IsZero() || at.Sub(epoch) > 15*time.Minute {
			t.Errorf("%v: the last of 1,000 tasks of 3 s on 4 processors began at %v (zero: not yet)", backfill, at)
		}
		for range 4 {
			w.add("a", 1, 1, 3*time.Hour, 0) // these tasks outlive all predictions
		}
		w.play(to.Add(2 * time.Minute))
		if at := w.began[wide]; !at.IsZero() {
			t.Errorf("%v: the wide job started at %v beside tasks that run for hours", backfill, at)
		}
		w.play(to.Add(4 * time.Hour))
		if at := w.began[wide].Sub(epoch); at != 3*time.Hour+20*time.Minute {
			t.Errorf("%v: the wide job started after %v, want 3h20m, when the tasks have ended", backfill, at)
		}
	}
}

// TestPromiseAgainstShortHistory: tasks of a user took a second each. A job has room by the time limits of others, and
// that start is promised. The user's next task runs for long, so it does not start in the promised room.
func TestPromiseAgainstShortHistory(t *testing.T) {
	for _, root := range []string{"fifo", "fair"} {
		for _, backfill := range backfills {
			w := newLasting(t, usersOf(root), backfill)
			for range 3 {
				w.add("c", 1, 3, time.Second, 0)
			}
			w.play(epoch.Add(4 * time.Second))
			w.add("a", 1, 1, 14*time.Second, 15*time.Second)
			wide := w.add("b", 2, 4, 2*time.Second, 10*time.Second)
			w.play(w.now.Add(1500 * time.Millisecond))
			long := w.add("c", 1, 3, 40*time.Second, 0)
			w.play(epoch.Add(time.Hour))
			if at := w.began[wide].Sub(epoch); at != 18*time.Second {
				t.Errorf("%s, %v: the wide job started at %v, want 18 s, after the task of a", root, backfill, at)
			}
			if w.began[long].Before(w.began[wide]) {
				t.Errorf("%s, %v: the long task started before the wide job", root, backfill)
			}
		}
	}
}

// TestWaitBeginsWithLimits: when a job becomes first, all running tasks have limits. Later, tasks without limits start
// beside it, and each outlives its prediction. The job starts all the same.
func TestWaitBeginsWithLimits(t *testing.T) {
	for _, root := range []string{"fifo", "fair"} {
		for _, backfill := range backfills {
			w := newLasting(t, usersOf(root), backfill)
			for range 3 {
				w.add("c", 1, 1, time.Second, 0)
			}
			w.play(epoch.Add(3 * time.Second))
			w.add("a", 1, 1, 7*time.Second, 8*time.Second)
			wide := w.add("b", 2, 4, 2*time.Second, 10*time.Second)
			for k := range 110 {
				length := time.Second
				if k%4 == 0 {
					length = 7 * time.Second
				}
				w.add("c", 1, 1, length, 0)
				w.play(w.now.Add(800 * time.Millisecond))
			}
			if at := w.began[wide].Sub(epoch); w.began[wide].IsZero() || at > 40*time.Second {
				t.Errorf("%s, %v: the wide job started at %v", root, backfill, at)
			}
		}
	}
}

// TestLateTaskLeavesNoNodesIdle: a task outlives its prediction by far, and a wide job waits for it. Nothing else
// happens. Short tasks with a time limit use the other processors, because the planned start of the wide job moves ever
// later.
func TestLateTaskLeavesNoNodesIdle(t *testing.T) {
	for _, root := range []string{"fifo", "fair"} {
		for _, backfill := range backfills {
			w := newLasting(t, usersOf(root), backfill)
			for range 3 {
				w.add("c", 1, 1, time.Second, 0)
			}
			w.play(epoch.Add(2 * time.Second))
			w.add("c", 1, 1, 600*time.Second, 0)
			wide := w.add("b", 2, 4, 2*time.Second, 10*time.Second)
			w.play(epoch.Add(3 * time.Second))
			var last int64
			for range 20 {
				last = w.add("a", 1, 1, 5*time.Second, 5*time.Second)
			}
			w.play(epoch.Add(time.Hour))
			if at := w.began[last].Sub(epoch); at > 2*time.Minute {
				t.Errorf("%s, %v: the last of 20 tasks of 5 s on 7 idle processors started at %v", root, backfill, at)
			}
			if at := w.began[wide].Sub(epoch); at > 610*time.Second {
				t.Errorf("%s, %v: the wide job started at %v", root, backfill, at)
			}
		}
	}
}
