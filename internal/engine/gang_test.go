package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	"github.com/fairlead/fairlead/store/memory"
)

// lab is a loop with several nodes of some slots each.
type lab struct {
	t     *testing.T
	store *memory.Store
	*engine.Loop
	stop  context.CancelFunc
	leave map[string]context.CancelFunc
	done  sync.WaitGroup

	mu   sync.Mutex
	runs map[string]int // by job and rank: how many run now
	last map[int64][]string
}

func newLab(t *testing.T, o engine.LoopOptions, slots ...int) *lab {
	t.Helper()
	l := &lab{t: t, store: memory.New("cpu"), leave: map[string]context.CancelFunc{}, runs: map[string]int{}, last: map[int64][]string{}}
	l.begin(o)
	for i, n := range slots {
		l.join(fmt.Sprint("n", i), n)
	}
	return l
}

// begin begins a loop over the store.
func (l *lab) begin(o engine.LoopOptions) {
	ctx, stop := context.WithCancel(l.t.Context())
	loop, err := newLoop(ctx, l.store, o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.Loop, l.stop = loop, stop
	l.done.Go(func() { loop.Run(ctx) })
}

// join adds a node.
func (l *lab) join(name string, slots int) {
	ctx, leave := context.WithCancel(l.t.Context())
	l.leave[name] = leave
	loop := l.Loop
	l.done.Go(func() {
		loop.Work(ctx, engine.WorkOptions{Name: name, Slots: slots, Grace: time.Millisecond, Handlers: map[string]engine.Handler{"work": engine.HandlerFunc(l.handle)}})
	})
	synctest.Wait()
}

func (l *lab) end() {
	for _, leave := range l.leave {
		leave()
	}
	l.stop()
	l.done.Wait()
}

// handle runs a rank for ten minutes, or does what the payload says of it, as in
// "1:2 fails after a minute": rank 1 at attempt 2.
func (l *lab) handle(ctx context.Context, x *fairlead.Lease) error {
	key := fmt.Sprint(x.JobID, "/", x.Task)
	l.mu.Lock()
	l.runs[key]++
	if l.runs[key] > 1 {
		l.t.Errorf("task %s runs %d times at once", key, l.runs[key])
	}
	l.last[x.JobID] = x.Nodes
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.runs[key]--
	}()
	length, err := 10*time.Minute, error(nil)
	if strings.HasPrefix(string(x.Job.Payload), fmt.Sprintf("%d:%d ", x.Task, x.Attempt)) {
		length, err = time.Minute, errors.New("no")
	}
	if string(x.Job.Payload) == fmt.Sprint(x.Task, " is quick") {
		length = time.Second
	}
	select {
	case <-time.After(length):
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gang submits a gang.
func (l *lab) gang(n int, f ...func(*fairlead.Job)) int64 {
	l.t.Helper()
	j := fairlead.Job{User: "ann", Gang: n, Spread: true}
	for _, set := range f {
		set(&j)
	}
	return enginetest.Submit(l.t, l.Loop, j)[0]
}

// check checks how many tasks of a job run, and that the loop knows as much.
func (l *lab) check(when string, id int64, state fairlead.State, attempt int) {
	l.t.Helper()
	synctest.Wait()
	j, err := l.Client().Job(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	tasks, err := l.Client().Tasks(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	if j.State != state || j.State == fairlead.Running && j.Running != j.Tasks || j.State == fairlead.Waiting && j.Waiting != j.Tasks {
		l.t.Errorf("%s: the job is %s: %d wait, %d run", when, j.State, j.Waiting, j.Running)
	}
	for _, t := range tasks {
		if t.Attempt != attempt {
			l.t.Errorf("%s: task %d has attempt %d, want %d", when, t.Index, t.Attempt, attempt)
		}
	}
	if run, wait := l.Running(); int(run) != j.Running || int(wait) != j.Waiting {
		l.t.Errorf("%s: the loop believes that %d run and %d wait; the store says %d and %d", when, run, wait, j.Running, j.Waiting)
	}
}

// TestGangStartsWhole: a gang waits until there is room for all of it, and each rank is told
// where all are.
func TestGangStartsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, engine.LoopOptions{}, 1, 1, 2)
		defer l.end()
		busy := enginetest.Submit(t, l.Loop, fairlead.Job{User: "ben", Array: "1-2"})[0]
		time.Sleep(time.Second)
		id := l.gang(3)
		time.Sleep(time.Minute)
		if j, _ := l.Client().Job(t.Context(), id); j.Waiting != 3 {
			t.Fatalf("it started in part: %+v", j)
		}
		a, err := forecast.New(l.Loop).Why(t.Context(), id, explain.WhyOptions{})
		if err != nil || a.Subject.Gang != 3 || !a.Subject.Spread {
			t.Errorf("why: %+v, %v", a.Subject, err)
		}
		if err := l.Client().Cancel(t.Context(), busy); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		l.check("room", id, fairlead.Running, 1)
		nodes := slices.Sorted(slices.Values(l.last[id]))
		if !slices.Equal(nodes, []string{"n0", "n1", "n2"}) {
			t.Errorf("nodes %v", nodes)
		}
		time.Sleep(10 * time.Minute)
		l.check("end", id, fairlead.Succeeded, 1)
		wide := l.gang(4, func(j *fairlead.Job) { j.Spread = false })
		time.Sleep(time.Second)
		l.check("packed", wide, fairlead.Running, 1)
	})
}

// TestGangComesApart: whatever ends one task early, the others are stopped, and all wait and
// start again together.
func TestGangComesApart(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		retries int
		do      func(l *lab, id int64)
		state   fairlead.State
		attempt int
	}{
		"failed with retries":    {"1:1 fails", 1, nil, fairlead.Running, 2},
		"failed without retries": {"1:1 fails", 0, nil, fairlead.Failed, 1},
		"one was done":           {"0 is quick", 1, func(l *lab, id int64) { l.leave["n1"]() }, fairlead.Running, 2},
		"node left":              {"", 0, func(l *lab, id int64) { l.leave["n1"]() }, fairlead.Running, 2},
		"cancelled":              {"", 0, func(l *lab, id int64) { l.Client().Cancel(l.t.Context(), id) }, fairlead.Cancelled, 1},
		"requeued": {"", 0, func(l *lab, id int64) {
			l.Client().Alter(l.t.Context(), queue.Alteration{Job: id, Verb: queue.VerbRequeue})
		}, fairlead.Running, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, engine.LoopOptions{}, 1, 1, 1)
				defer l.end()
				id := l.gang(3, func(j *fairlead.Job) { j.Payload, j.Retries = []byte(c.payload), c.retries })
				time.Sleep(30 * time.Second)
				if c.do != nil {
					c.do(l, id)
				}
				time.Sleep(time.Second)
				if _, up := l.Present("n1"); !up {
					l.join("n1", 1)
				}
				time.Sleep(2 * time.Minute)
				if c.payload == "0 is quick" { // its second time, too
					if tasks, _ := l.Client().Tasks(t.Context(), id); tasks[0].Attempt != 2 || tasks[0].State != fairlead.Succeeded {
						t.Errorf("tasks %+v", tasks)
					}
					return
				}
				l.check(name, id, c.state, c.attempt)
				time.Sleep(20 * time.Minute)
				if c.state == fairlead.Running {
					l.check("end", id, fairlead.Succeeded, c.attempt)
				}
			})
		})
	}
}

// TestGangOverRebuild: a loop that makes its core anew, or begins again, in the midst of a
// gang's life neither loses a task nor runs one twice.
func TestGangOverRebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, engine.LoopOptions{}, 1, 1, 1)
		defer l.end()
		id := l.gang(3, func(j *fairlead.Job) { j.Payload, j.Retries, j.Backoff = []byte("1:1 fails"), 3, time.Minute })
		again := func(when string, state fairlead.State, attempt int) {
			t.Helper()
			if err := l.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.check(when, id, state, attempt)
		}
		time.Sleep(time.Second)
		again("running", fairlead.Running, 1)
		time.Sleep(time.Minute)
		if j, err := l.Client().Job(t.Context(), id); err != nil || j.Waiting != 3 {
			t.Errorf("in the pause: %+v, %v", j, err)
		}
		if err := l.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		again("second attempt", fairlead.Running, 2)
		for _, leave := range l.leave {
			leave()
		}
		l.stop()
		l.done.Wait()
		l.begin(engine.LoopOptions{})
		for i := range 3 {
			l.join(fmt.Sprint("n", i), 1)
		}
		time.Sleep(time.Minute)
		l.check("after a restart", id, fairlead.Running, 3)
		time.Sleep(10 * time.Minute)
		l.check("end", id, fairlead.Succeeded, 3)
	})
}

// TestGangIsStoppedWhole: room for a starving pool is not made by stopping only a part of a gang.
func TestGangIsStoppedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, engine.LoopOptions{Shares: starvingShares(30 * time.Minute)}, 2, 2)
		defer l.end()
		enginetest.Submit(t, l.Loop, fairlead.Job{User: "ann", Pool: "big", Array: "1-2"})
		time.Sleep(10 * time.Second)
		id := l.gang(2, func(j *fairlead.Job) { j.Pool, j.Spread = "big", false })
		time.Sleep(10 * time.Second)
		urgent := enginetest.Submit(t, l.Loop, fairlead.Job{User: "ben", Pool: "urgent", Array: "1-2"})[0]
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		j, err := l.Client().Job(t.Context(), id)
		if err != nil || j.State != fairlead.Waiting || j.Waiting != 2 {
			t.Errorf("the gang is %+v, %v", j, err)
		}
		if u, _ := l.Client().Job(t.Context(), urgent); u.Running != 2 {
			t.Errorf("%d of the urgent run", u.Running)
		}
		if stops, _ := l.Stops(t.Context(), queue.StopQuery{Job: id}); len(stops) != 2 {
			t.Errorf("%d stops are kept", len(stops))
		}
		time.Sleep(time.Hour)
		l.check("end", id, fairlead.Succeeded, 2)
	})
}

// TestGangThatCannotBe: a gang that the nodes could never run is refused, and the error names the nearest gang that
// they could run.
func TestGangThatCannotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, engine.LoopOptions{}, 4, 4, 2)
		defer l.end()
		for _, c := range []struct {
			gang   int
			spread bool
			cpu    int64
			want   string
		}{
			{3, true, 4, "it asks for 3 nodes with 4 cpu, but the cluster has only 2: use -N 2, or ask for 2 cpu on each"},
			{4, true, 1, "it asks for 4 nodes with 1 cpu, but the cluster has only 3: use -N 3 ("},
			{5, false, 3, "it asks for 5 tasks with 3 cpu at once, but there is room for only 2: use -n 2"},
			{5, false, 2, ""},
		} {
			subs, err := l.Intake.Submit(t.Context(), []fairlead.Job{{User: "ann", Kind: "work", Gang: c.gang, Spread: c.spread, Request: fairlead.Amounts{"cpu": c.cpu}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(subs[0].Err); c.want == "" && subs[0].Err != nil || !strings.Contains(got, c.want) {
				t.Errorf("%+v: %s", c, got)
			}
		}
	})
}
