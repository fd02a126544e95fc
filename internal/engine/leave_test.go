package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// slowLeases is a store whose answer to a lease arrives a second after the lease was stored.
type slowLeases struct{ *memory.Store }

func (s slowLeases) Lease(
	ctx context.Context, holder string, wants []queue.Want, ttl time.Duration,
) ([]queue.Grant, error) {
	grants, err := s.Store.Lease(ctx, holder, wants, ttl)
	time.Sleep(time.Second)
	return grants, err
}

// TestWorkerLeavesBeforeItsLeaseArrives: a task waits again and counts no loss if its worker stops after the lease was
// stored, and before the worker has it.
func TestWorkerLeavesBeforeItsLeaseArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, loop, end := runOn(t, slowLeases{memory.New("cpu")}, engine.LoopOptions{})
		var worker sync.WaitGroup
		work, stop := context.WithCancel(ctx)
		worker.Go(func() {
			never := engine.HandlerFunc(func(context.Context, *fairlead.Lease) error {
				t.Error("the worker begins a task after it was stopped")
				return nil
			})
			o := engine.WorkOptions{Slots: 1, Handlers: map[string]engine.Handler{"work": never}}
			if err := loop.Work(work, o); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		id := enginetest.Submit(t, loop, fairlead.Job{})[0]
		time.Sleep(500 * time.Millisecond)
		if s := enginetest.State(t, loop, id); s != fairlead.Running {
			t.Fatalf("while the lease is on its way, the job is %s", s)
		}
		stop()
		time.Sleep(time.Minute)
		tasks, err := loop.Client().Tasks(t.Context(), id)
		if err != nil || len(tasks) != 1 || tasks[0].State != fairlead.Waiting || tasks[0].Losses != 0 {
			t.Errorf("%+v, %v", tasks, err)
		}
		worker.Wait()
		end()
	})
}
