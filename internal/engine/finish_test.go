package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/sqlite"
)

// slowFinish answers some time after it has ended the attempts, so that the loop may
// lease a task's next attempt before it knows that the last one is over.
type slowFinish struct{ *memory.Store }

func (s slowFinish) Finish(ctx context.Context, r []queue.Result) ([]queue.Verdict, error) {
	v, err := s.Store.Finish(ctx, r)
	time.Sleep(20 * time.Millisecond)
	return v, err
}

func TestRetryBeforeTheEndIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		loop, err := newLoop(ctx, slowFinish{memory.New("cpu")}, engine.LoopOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fails := engine.HandlerFunc(func(context.Context, *fairlead.Lease) error { return errors.New("no") })
		var wg sync.WaitGroup
		wg.Go(func() { loop.Run(ctx) })
		wg.Go(func() {
			loop.Work(ctx, engine.WorkOptions{Slots: 4, Handlers: map[string]engine.Handler{"work": fails}})
		})
		synctest.Wait()
		id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Retries: 2, Backoff: time.Millisecond})[0]
		time.Sleep(time.Hour)
		if s := enginetest.State(t, loop, id); s != fairlead.Failed {
			t.Errorf("the job is %s", s)
		}
		if run, wait := loop.Running(); run != 0 || wait != 0 {
			t.Errorf("the loop believes that %d tasks run and %d wait; free %v", run, wait, views.Nodes(loop)[0].Free)
		}
		cancel()
		wg.Wait()
	})
}

// handed is a worker that passes on what it is given.
type handed chan *fairlead.Lease

func (h handed) Start(leases []*fairlead.Lease) {
	for _, l := range leases {
		h <- l
	}
}
func (h handed) Stop([]queue.Ref, string) {}

// TestResultWhoseCallerGivesUp: the result is committed whether or not anybody waits
// for the answer, and the slot is free again.
func TestResultWhoseCallerGivesUp(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "jobs.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	loop, err := newLoop(ctx, store, engine.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { loop.Run(ctx) })
	const jobs = 50
	capacity, _ := engine.AgentCapacity(map[string]int64{"cpu": jobs})
	worker := make(handed, jobs)
	member, err := loop.Join(ctx, "n1", capacity, engine.NodeInfo{}, worker, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range jobs {
		if _, err := loop.Client().Submit(ctx, fairlead.Job{User: "ann", Argv: []string{"x"}}); err != nil {
			t.Fatal(err)
		}
	}
	for range jobs {
		results := []queue.Result{{Ref: (<-worker).Ref, Outcome: fairlead.Outcome{State: fairlead.Succeeded}}}
		short, stop := context.WithTimeout(ctx, 100*time.Microsecond)
		if _, err := member.Finish(short, results); err != nil {
			member.Finish(ctx, results) // as an agent that got no answer
		}
		stop()
	}
	if run, _ := loop.Running(); run != 0 {
		t.Errorf("the loop believes that %d tasks run; free %v", run, views.Nodes(loop)[0].Free)
	}
}

// TestRebuildWhileTasksEnd submits many jobs at once: the loop falls behind and makes its
// core anew, while tasks end and clients ask.
func TestRebuildWhileTasksEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store := memory.New("cpu")
	loop, err := newLoop(ctx, store, engine.LoopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	quick := engine.HandlerFunc(func(context.Context, *fairlead.Lease) error { return nil })
	wg.Go(func() { loop.Run(ctx) })
	wg.Go(func() {
		loop.Work(ctx, engine.WorkOptions{Slots: 8, Handlers: map[string]engine.Handler{"work": quick}})
	})
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				forecast.New(loop).Why(ctx, 1, explain.WhyOptions{Siblings: 1})
			}
		})
	}
	for range 3 {
		jobs := make([]fairlead.Job, 40_000)
		for i := range jobs {
			jobs[i] = fairlead.Job{User: "ann", Kind: "work"}
		}
		if _, err := loop.Client().Submit(ctx, jobs...); err != nil {
			t.Fatal(err)
		}
	}
	var waiting []queue.Alteration
	all, err := loop.Client().Jobs(ctx, fairlead.Query{States: []fairlead.State{fairlead.Waiting}})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		waiting = append(waiting, queue.Alteration{Job: j.ID, Verb: queue.VerbCancel})
	}
	if _, err := loop.Client().Alter(ctx, waiting...); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "nothing waits or runs", func() (any, bool) {
		open, err := loop.Client().Jobs(ctx, fairlead.Query{States: []fairlead.State{fairlead.Waiting, fairlead.Running}})
		if err != nil {
			t.Fatal(err)
		}
		views.Pools(ctx, loop) // brings the loop up to date
		run, wait := loop.Running()
		return fmt.Sprintf("%d jobs are open; the loop believes that %d run and %d wait", len(open), run, wait),
			len(open) == 0 && run == 0 && wait == 0
	})
}
