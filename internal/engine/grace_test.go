package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// TestLoopKnowsWhatWasGivenUp: a worker that ends while the store is silent does not wait to hear
// whether its task has ended. The loop, which goes on, asks when the store is back.
func TestLoopKnowsWhatWasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &lateStore{Store: memory.New("cpu")}
		ctx, end := context.WithCancel(t.Context())
		loop, err := newLoop(ctx, store, engine.LoopOptions{})
		if err != nil {
			t.Fatal(err)
		}
		running := make(chan error, 1)
		go func() { running <- loop.Run(ctx) }()
		working, stop := context.WithCancel(ctx)
		worked := make(chan error, 1)
		go func() {
			h := engine.HandlerFunc(func(context.Context, *fairlead.Lease) error { time.Sleep(time.Second); return nil })
			worked <- loop.Work(working, engine.WorkOptions{Handlers: map[string]engine.Handler{"work": h}, Grace: time.Second})
		}()
		synctest.Wait()
		enginetest.Submit(t, loop, fairlead.Job{})
		time.Sleep(500 * time.Millisecond)
		stop()
		if err := <-worked; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if pools := views.Pools(t.Context(), loop); pools[0].Running != 0 {
			t.Errorf("%v run in the core, and nothing does in the store", pools[0].Running)
		}
		end()
		if err := <-running; err != nil {
			t.Error(err)
		}
	})
}

// lateStore ends attempts, but answers only after the caller has stopped waiting.
type lateStore struct{ *memory.Store }

func (s *lateStore) Finish(ctx context.Context, r []queue.Result) ([]queue.Verdict, error) {
	if _, err := s.Store.Finish(ctx, r); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}
