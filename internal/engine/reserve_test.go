package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// site is a loop with a node of two slots, in virtual time.
type site struct {
	t     *testing.T
	loop  *engine.Loop
	store *memory.Store
	stop  func()
	mu    sync.Mutex
	began map[int64]time.Duration // since the beginning
	zero  time.Time
}

func newSite(t *testing.T, store *memory.Store) *site {
	ctx, cancel := context.WithCancel(t.Context())
	loop, err := newLoop(ctx, store, engine.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := &site{t: t, loop: loop, store: store, began: map[int64]time.Duration{}, zero: time.Now()}
	work := engine.HandlerFunc(func(ctx context.Context, l *fairlead.Lease) error {
		x.mu.Lock()
		x.began[l.JobID] = time.Since(x.zero)
		x.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(l.Job.Limit / 2):
		}
		return nil
	})
	var group sync.WaitGroup
	group.Go(func() { loop.Run(ctx) })
	group.Go(func() {
		loop.Work(ctx, engine.WorkOptions{Name: "n", Slots: 2, Handlers: map[string]engine.Handler{"work": work}})
	})
	x.stop = func() { cancel(); group.Wait() }
	synctest.Wait()
	return x
}

func (x *site) submit(j fairlead.Job) int64 {
	x.t.Helper()
	j.Kind, j.User = "work", "ann"
	sub, err := x.loop.Intake.Submit(x.t.Context(), []fairlead.Job{j})
	if err == nil {
		err = sub[0].Err
	}
	if err != nil {
		x.t.Fatal(err)
	}
	synctest.Wait()
	return sub[0].ID
}

func (x *site) reserve(r engine.Reservation, o engine.ReserveOptions) error {
	r.Nodes = []string{"n"}
	_, _, err := x.loop.Overrides.Reserve(x.t.Context(), r, o)
	synctest.Wait()
	return err
}

func (x *site) beganAt(job int64) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.began[job]
}

func TestMaintenanceBeginsAndEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSite(t, memory.New("cpu"))
		defer x.stop()
		if err := x.reserve(engine.Reservation{Name: "service", From: time.Now().Add(2 * time.Hour), Maintenance: true}, engine.ReserveOptions{Lasts: time.Hour}); err != nil {
			t.Fatal(err)
		}
		short := x.submit(fairlead.Job{Limit: 90 * time.Minute})
		long := x.submit(fairlead.Job{Limit: 150 * time.Minute})
		a, err := forecast.New(x.loop).Why(t.Context(), long, explain.WhyOptions{Estimate: true})
		if err != nil || a.Start == nil || a.Start.By == nil || !a.Start.By.Equal(x.zero.Add(3*time.Hour)) {
			t.Errorf("the start of the long job is estimated as %+v (%v), want by the end of the maintenance", a.Start, err)
		}
		time.Sleep(2*time.Hour + time.Minute)
		if n := views.Nodes(x.loop)[0]; n.State != "maintenance" || !strings.Contains(n.Why, "service") {
			t.Errorf("the node is %s (%s) during the maintenance", n.State, n.Why)
		}
		time.Sleep(2 * time.Hour)
		if n := views.Nodes(x.loop)[0]; n.State != "up" || len(x.loop.Overrides.Reservations()) != 0 {
			t.Errorf("after the maintenance the node is %s, and there are %v", n.State, x.loop.Overrides.Reservations())
		}
		if a, b := x.beganAt(short), x.beganAt(long); a != 0 || b != 3*time.Hour {
			t.Errorf("the jobs began after %v and %v, want at once and after the maintenance, at 3h", a, b)
		}
		if left, err := x.store.Settings(t.Context()); err != nil || left["reservation/service"] != "" {
			t.Errorf("what is over is still kept: %q, %v", left["reservation/service"], err)
		}
	})
}

func TestReservationsHoldOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		x := newSite(t, store)
		r := engine.Reservation{Name: "course", From: time.Now().Add(time.Hour), Users: []string{"ann"}}
		if err := x.reserve(r, engine.ReserveOptions{Lasts: time.Hour}); err != nil {
			t.Fatal(err)
		}
		x.stop()
		x = newSite(t, store)
		defer x.stop()
		inside := x.submit(fairlead.Job{Limit: time.Hour, Reservation: "course"})
		outside := x.submit(fairlead.Job{Limit: 90 * time.Minute})
		time.Sleep(5 * time.Hour)
		if a, b := x.beganAt(inside), x.beganAt(outside); a != time.Hour || b != 2*time.Hour {
			t.Errorf("the jobs began after %v and %v, want at the beginning and at the end of the course", a, b)
		}
	})
}

func TestReservationsAreRefusedWhereTasksRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSite(t, memory.New("cpu"))
		defer x.stop()
		job := x.submit(fairlead.Job{Limit: 2 * time.Hour})
		r := engine.Reservation{Name: "service", From: time.Now().Add(time.Hour), Maintenance: true}
		o := engine.ReserveOptions{Lasts: time.Hour}
		var over *engine.OverrunError
		if err := x.reserve(r, o); !errors.As(err, &over) || !errors.Is(err, queue.ErrForbidden) || len(over.Tasks) != 1 || over.Tasks[0].Job != job {
			t.Errorf("got %v, want a refusal that names job %d", err, job)
		}
		if o.Force = true; x.reserve(r, o) != nil || len(x.loop.Overrides.Reservations()) != 1 {
			t.Error("it is not made by force")
		}
		r.Name, r.From, o.Force = "later", time.Now().Add(2*time.Hour), false
		if err := x.reserve(r, o); err != nil {
			t.Errorf("the task is over by then: %v", err)
		}
		_, err := x.loop.Intake.Submit(t.Context(), []fairlead.Job{{Kind: "work", User: "bob", Limit: time.Minute, Reservation: "later"}})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestOverrunText: tasks of a job on a node are listed together, with the end of the last one.
func TestOverrunText(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.Local)
	tasks := []engine.Overrun{{Job: 4, User: "bob", Node: "n1"}}
	for i := range 5 {
		tasks = append(tasks, engine.Overrun{Job: 3, Task: i + 1, User: "ann", Node: "n1", Until: now.Add(time.Duration(i+1) * time.Hour)})
	}
	tasks = append(tasks, engine.Overrun{Job: 3, Task: 6, User: "ann", Node: "n2", Until: now.Add(time.Hour)}, engine.Overrun{Job: 3, Task: 7, User: "ann", Node: "n2"})
	want := "8 tasks may still be running when the reservation begins: job 4 of bob on n1 (without a time limit), job 3 of ann on n1 (5 tasks, until 17:00), " +
		"job 3 of ann on n2 (2 tasks, without a time limit)"
	if got := instant.ByClock(engine.OverrunText(tasks), now); got != want {
		t.Errorf("it says %s\nwant %s", got, want)
	}
}
