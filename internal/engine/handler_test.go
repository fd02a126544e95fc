package engine_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/store/memory"
)

// TestHandlersThatOutliveTheGrace: a task that a stopping worker ends runs again, and no
// attempt counts against it; a task that was canceled before stays cancelled.
func TestHandlersThatOutliveTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		loop, err := newLoop(ctx, memory.New("cpu"), engine.LoopOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { loop.Run(ctx) })
		work := func(ctx context.Context, h engine.HandlerFunc) {
			wg.Go(func() {
				o := engine.WorkOptions{Slots: 2, Grace: 5 * time.Second, Handlers: map[string]engine.Handler{"work": h}}
				if err := loop.Work(ctx, o); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		first, stop := context.WithCancel(ctx)
		work(first, func(ctx context.Context, _ *fairlead.Lease) error {
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, engine.ErrLeaseLost) && !errors.Is(cause, engine.ErrStopped) {
				t.Errorf("the handler ends because of %v", cause)
			}
			time.Sleep(time.Second)
			return ctx.Err()
		})
		ids := enginetest.Submit(t, loop, fairlead.Job{}, fairlead.Job{})
		time.Sleep(10 * time.Second)
		stop()
		time.Sleep(4500 * time.Millisecond) // it goes on for the grace period
		if s := enginetest.State(t, loop, ids[0]); s != fairlead.Running {
			t.Errorf("within the grace period the job is %s", s)
		}
		if err := loop.Client().Cancel(t.Context(), ids[1]); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Second)
		if s := enginetest.State(t, loop, ids[0]); s != fairlead.Waiting {
			t.Errorf("after it the job is %s", s)
		}
		work(ctx, func(context.Context, *fairlead.Lease) error { return nil })
		time.Sleep(10 * time.Second)
		tasks, err := loop.Client().Tasks(t.Context(), ids[0])
		if err != nil || len(tasks) != 1 || tasks[0].State != fairlead.Succeeded || tasks[0].Attempt != 2 || tasks[0].Losses != 0 {
			t.Errorf("the job did not run again: %+v, %v", tasks, err)
		}
		if s := enginetest.State(t, loop, ids[1]); s != fairlead.Cancelled {
			t.Errorf("what was canceled is %s", s)
		}
		cancel()
		wg.Wait()
	})
}

// TestHandlerEndsItsGoroutine: a handler that does not return fails its task, and its slot is free for the next one.
func TestHandlerEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 1, func(ctx context.Context, l *fairlead.Lease) error {
			if l.Job.Name == "leaves" {
				runtime.Goexit()
			}
			return nil
		})
		defer stop()
		ids := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Name: "leaves"}, fairlead.Job{User: "ann"})
		time.Sleep(time.Minute)
		for i, want := range []fairlead.State{fairlead.Failed, fairlead.Succeeded} {
			if got := enginetest.State(t, loop, ids[i]); got != want {
				t.Errorf("job %d is %s, want %s", ids[i], got, want)
			}
		}
		tasks, err := loop.Client().Tasks(t.Context(), ids[0])
		if err != nil || !strings.Contains(tasks[0].Outcome.Cause, "runtime.Goexit") {
			t.Errorf("it failed of %+v, %v", tasks, err)
		}
	})
}
