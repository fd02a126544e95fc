package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/tries"
	"github.com/fairlead/fairlead/store/memory"
)

// TestHandlersChooseTheNextAttempt: a task that is put off runs again after the pause, as often as its handler likes,
// and needs no retries for it; after a failure the pause of the handler counts instead of the job's.
func TestHandlersChooseTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		loop, err := newLoop(ctx, memory.New("cpu"), engine.LoopOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { loop.Run(ctx) })
		defer wg.Wait()
		defer cancel()
		var mu sync.Mutex
		began, starts := time.Now(), map[string][]time.Duration{}
		handler := func(what string, each func(attempt int) error) (kind string, h engine.Handler) {
			return what, engine.HandlerFunc(func(_ context.Context, l *fairlead.Lease) error {
				mu.Lock()
				starts[what] = append(starts[what], time.Since(began).Round(time.Minute))
				mu.Unlock()
				return each(l.Attempt)
			})
		}
		handlers := map[string]engine.Handler{}
		add := func(kind string, h engine.Handler) { handlers[kind] = h }
		add(handler("polls", func(attempt int) error {
			if attempt < 4 {
				return fmt.Errorf("nothing has come yet: %w", tries.Snooze(time.Hour))
			}
			return nil
		}))
		add(handler("asks", func(attempt int) error {
			return tries.RetryAfter(time.Duration(attempt)*10*time.Minute, errors.New("too many requests"))
		}))
		add(handler("gives up", func(int) error {
			return tries.RetryAfter(time.Minute, tries.Permanent(errors.New("gone")))
		}))
		add(handler("is late for good", func(int) error {
			time.Sleep(2 * time.Minute)
			return tries.Permanent(context.DeadlineExceeded)
		}))
		wg.Go(func() { loop.Work(ctx, engine.WorkOptions{Slots: 4, Handlers: handlers}) })
		ids := enginetest.Submit(t, loop, fairlead.Job{Kind: "polls"},
			fairlead.Job{Kind: "asks", Retries: 2, Backoff: time.Second}, fairlead.Job{Kind: "gives up", Retries: 5},
			fairlead.Job{Kind: "is late for good", Retries: 5, Limit: time.Minute})
		time.Sleep(5 * time.Hour)
		mu.Lock()
		defer mu.Unlock()
		for kind, want := range map[string][]time.Duration{
			"polls": {0, time.Hour, 2 * time.Hour, 3 * time.Hour}, "asks": {0, 10 * time.Minute, 30 * time.Minute},
			"gives up": {0}, "is late for good": {0},
		} {
			if !slices.Equal(starts[kind], want) {
				t.Errorf("what %s starts at %v, want %v", kind, starts[kind], want)
			}
		}
		for i, want := range []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Failed, fairlead.Failed} {
			if s := enginetest.State(t, loop, ids[i]); s != want {
				t.Errorf("job %d is %s, want %s", ids[i], s, want)
			}
		}
		job, err := loop.Client().Job(ctx, ids[1])
		if err != nil || job.Cause != "too many requests" {
			t.Errorf("it failed because of %q, %v", job.Cause, err)
		}
	})
}
