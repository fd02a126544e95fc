package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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

// refusesJobs is a store that refuses the ends of some jobs, as a database does whose trigger raises an error.
type refusesJobs struct {
	*memory.Store
	mu    sync.Mutex
	jobs  []int64
	calls int
}

func (s *refusesJobs) refuse(ids ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs, s.calls = ids, 0
}

func (s *refusesJobs) Finish(ctx context.Context, all []queue.Result) ([]queue.Verdict, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	for _, r := range all {
		if slices.Contains(s.jobs, r.JobID) {
			return nil, errors.New("ERROR: planted (SQLSTATE P0001)")
		}
	}
	return s.Store.Finish(ctx, all)
}

// TestARefusedEndHoldsUpNoOthers reports the ends of many jobs in one call. The store refuses one of them: the others
// are recorded, and the caller learns which one to report again.
func TestARefusedEndHoldsUpNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log strings.Builder
		store := &refusesJobs{Store: memory.New("cpu")}
		loop, err := newLoop(ctx, store, engine.LoopOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { loop.Run(ctx) })
		const jobs = 200
		capacity, _ := engine.AgentCapacity(map[string]int64{"cpu": jobs})
		worker := make(handed, jobs)
		member, err := loop.Join(ctx, "n1", capacity, engine.NodeInfo{}, worker, nil)
		if err != nil {
			t.Fatal(err)
		}
		enginetest.Submit(t, loop, slices.Repeat([]fairlead.Job{{User: "ann", Argv: []string{"x"}}}, jobs)...)
		var results []queue.Result
		for range jobs {
			results = append(results, queue.Result{Ref: (<-worker).Ref, Outcome: queue.Outcome{State: queue.Succeeded}})
		}
		bad := results[77].JobID
		store.refuse(bad)
		for try := range 3 {
			verdicts, err := member.Finish(ctx, results)
			if err != nil {
				t.Fatalf("try %d: %v", try, err)
			}
			var again []queue.Result
			for i, v := range verdicts {
				if v.Err != nil && !errors.Is(v.Err, queue.ErrStaleAttempt) {
					again = append(again, results[i])
				}
			}
			if len(again) != 1 || again[0].JobID != bad {
				t.Fatalf("try %d: %d ends are to be reported again", try, len(again))
			}
			if store.calls > 20 {
				t.Errorf("try %d: the store was called %d times", try, store.calls)
			}
			store.refuse(bad)
			results = again
			time.Sleep(time.Second)
		}
		if run, _ := loop.Running(); run != 1 {
			t.Errorf("%d tasks run, want the refused one", run)
		}
		lines := log.String()
		if n := strings.Count(lines, "level=ERROR"); n != 1 || !strings.Contains(lines, fmt.Sprint("job=", bad)) {
			t.Errorf("%d errors in the log: %s", n, lines)
		}
		if st := loop.Stats(); !st.Failing || !strings.Contains(st.LastError, fmt.Sprintf("the end of job %d,", bad)) {
			t.Errorf("doctor sees failing %v: %q", st.Failing, st.LastError)
		}
		store.refuse()
		if verdicts, err := member.Finish(ctx, results); err != nil || verdicts[0].Err != nil {
			t.Errorf("when the store is mended: %v, %v", verdicts, err)
		}
		if st := loop.Stats(); st.Failing {
			t.Errorf("doctor still sees %q", st.LastError)
		}
		if s := enginetest.State(t, loop, bad); s != fairlead.Succeeded {
			t.Errorf("the job is %s", s)
		}
		cancel()
		wg.Wait()
	})
}

// TestARefusedEndHoldsUpNoOtherHandlers ends the tasks of handlers at the same time.
func TestARefusedEndHoldsUpNoOtherHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		store := &refusesJobs{Store: memory.New("cpu")}
		loop, err := newLoop(ctx, store, engine.LoopOptions{})
		if err != nil {
			t.Fatal(err)
		}
		work := engine.HandlerFunc(func(context.Context, *fairlead.Lease) error { time.Sleep(time.Second); return nil })
		var wg sync.WaitGroup
		wg.Go(func() { loop.Run(ctx) })
		wg.Go(func() {
			loop.Work(ctx, engine.WorkOptions{Slots: 50, Handlers: map[string]engine.Handler{"work": work}})
		})
		synctest.Wait()
		ids := enginetest.Submit(t, loop, slices.Repeat([]fairlead.Job{{User: "ann"}}, 50)...)
		store.refuse(ids[7])
		time.Sleep(5 * time.Second)
		for _, id := range ids {
			if s := enginetest.State(t, loop, id); (s == fairlead.Succeeded) == (id == ids[7]) {
				t.Errorf("job %d is %s; the store refuses that of job %d", id, s, ids[7])
			}
		}
		store.refuse()
		time.Sleep(10 * time.Second)
		if s := enginetest.State(t, loop, ids[7]); s != fairlead.Succeeded {
			t.Errorf("when the store is mended the job is %s", s)
		}
		cancel()
		wg.Wait()
	})
}
