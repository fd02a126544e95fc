package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// hand joins a node that gets its leases from a channel.
func hand(t *testing.T, l *engine.Loop, name string, info engine.NodeInfo) (*engine.Member, handed) {
	t.Helper()
	capacity, err := engine.AgentCapacity(map[string]int64{"cpu": 1})
	if err != nil {
		t.Fatal(err)
	}
	worker := make(handed, 10)
	m, err := l.Join(t.Context(), name, capacity, info, worker, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m, worker
}

// TestOnlyTheHolderSpeaks: a report of another node about an attempt changes nothing. It is refused, and the valid
// reports of the same call are accepted.
func TestOnlyTheHolderSpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		store := memory.New("cpu")
		loop, err := newLoop(ctx, store, engine.LoopOptions{LeaseTTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		go loop.Run(ctx)
		submitted, err := loop.Client().Submit(ctx, fairlead.Job{User: "ann", Argv: []string{"a"}}, fairlead.Job{User: "bob", Argv: []string{"b"}})
		if err != nil {
			t.Fatal(err)
		}
		one, of1 := hand(t, loop, "n1", engine.NodeInfo{})
		first := <-of1
		two, of2 := hand(t, loop, "n2", engine.NodeInfo{Queue: true})
		second := <-of2
		both := []queue.Ref{first.Ref, second.Ref}
		if errs, err := two.RenewFor(ctx, both, 30*24*time.Hour); err != nil || !errors.Is(errs[0], queue.ErrStaleAttempt) || errs[1] != nil {
			t.Errorf("renew: %v, %v", errs, err)
		}
		if err := one.Release(ctx, both[1:]); err != nil {
			t.Error(err)
		}
		if err := one.Progress(ctx, []queue.Progress{{Ref: second.Ref, Began: time.Now()}}); err != nil {
			t.Error(err)
		}
		ok := fairlead.Outcome{State: fairlead.Succeeded}
		verdicts, err := two.Finish(ctx, []queue.Result{{Ref: first.Ref, Outcome: fairlead.Outcome{State: fairlead.Failed, Final: true}}, {Ref: second.Ref, Outcome: ok}})
		if err != nil || !errors.Is(verdicts[0].Err, queue.ErrStaleAttempt) || verdicts[1].Err != nil {
			t.Fatalf("finish: %+v, %v", verdicts, err)
		}
		if verdicts, err = one.Finish(ctx, []queue.Result{{Ref: first.Ref, Outcome: ok}}); err != nil || verdicts[0].Err != nil {
			t.Fatalf("the holder's own end: %+v, %v", verdicts, err)
		}
		for _, id := range submitted {
			if s := enginetest.State(t, loop, id); s != fairlead.Succeeded {
				t.Errorf("job %d is %s", id, s)
			}
		}
		gone := queue.Ref{JobID: 999, Attempt: 1}
		if errs, err := one.Renew(ctx, []queue.Ref{gone}); err != nil || errs[0] == nil {
			t.Errorf("an attempt that never was: %v, %v", errs, err)
		}
		cancel()
		synctest.Wait()
	})
}

// TestHolderOfAnotherServer: an attempt that this loop does not know of is looked for in the store.
func TestHolderOfAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		store := memory.New("cpu")
		loop, err := newLoop(ctx, store, engine.LoopOptions{LeaseTTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		id, err := loop.Client().Submit(ctx, fairlead.Job{User: "ann", Argv: []string{"a"}})
		if err != nil {
			t.Fatal(err)
		}
		grants, err := store.Lease(ctx, "far", []queue.Want{{Job: id[0]}}, time.Minute)
		if err != nil || grants[0].Lease == nil {
			t.Fatal(err, grants)
		}
		m, _ := hand(t, loop, "n1", engine.NodeInfo{})
		v, err := m.Finish(ctx, []queue.Result{{Ref: grants[0].Lease.Ref, Outcome: fairlead.Outcome{State: fairlead.Succeeded}}})
		if err != nil || !errors.Is(v[0].Err, queue.ErrStaleAttempt) {
			t.Errorf("%+v, %v", v, err)
		}
		if tasks, err := store.Tasks(ctx, id[0]); err != nil || tasks[0].State != fairlead.Running {
			t.Errorf("%+v, %v", tasks, err)
		}
	})
}

// slowToReplace takes half a minute to answer that the attempts of a node are lost.
type slowToReplace struct{ fairlead.Store }

func (s slowToReplace) Expire(ctx context.Context, holder string) ([]queue.Ref, error) {
	refs, err := s.Store.Expire(ctx, holder)
	if holder != "" {
		time.Sleep(30 * time.Second) // the loop looks at the store meanwhile
	}
	return refs, err
}

// TestNothingGoesToWhoIsReplaced: a task that a worker lost goes to the worker that replaces it, and not once more to
// the old worker while the new one joins.
func TestNothingGoesToWhoIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		loop, err := newLoop(ctx, slowToReplace{memory.New("cpu")}, engine.LoopOptions{LeaseTTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		go loop.Run(ctx)
		if _, err := loop.Client().Submit(ctx, fairlead.Job{User: "ann", Argv: []string{"a"}}); err != nil {
			t.Fatal(err)
		}
		_, before := hand(t, loop, "n1", engine.NodeInfo{})
		if first := <-before; first.Attempt != 1 {
			t.Errorf("the first attempt has the number %d", first.Attempt)
		}
		_, after := hand(t, loop, "n1", engine.NodeInfo{})
		select {
		case second := <-after:
			if second.Attempt != 2 {
				t.Errorf("the second attempt has the number %d", second.Attempt)
			}
		case <-time.After(time.Hour):
			t.Error("the worker that took the place was given nothing")
		}
		if len(before) > 0 {
			t.Errorf("the worker that was replaced was given %v", (<-before).Ref)
		}
		cancel()
		synctest.Wait()
	})
}
