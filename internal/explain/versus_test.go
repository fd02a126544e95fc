package explain_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
)

// TestJobsOfALeafTakeTurns: a single job of a pool starts at the next end of a task of that pool, although an older
// array of the pool has hundreds of tasks. The job that `why` calls next is the next to start.
func TestJobsOfALeafTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		began := []int64{} // the jobs of ann, in the order of their starts
		loop, ex, stop := remembering(t, engine.LoopOptions{}, 2, func(_ context.Context, l *fairlead.Lease) error {
			mu.Lock()
			if l.Job.User == "ann" {
				began = append(began, l.JobID)
			}
			mu.Unlock()
			time.Sleep(time.Second)
			return nil
		})
		defer stop()
		array := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Array: "1-100"})[0]
		enginetest.Submit(t, loop, fairlead.Job{User: "bob", Array: "1-100"})
		time.Sleep(10500 * time.Millisecond) // each has a slot, and tasks of both end at different instants
		single := enginetest.Submit(t, loop, fairlead.Job{User: "ann"})[0]
		other := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Array: "1-3"})[0]
		synctest.Wait()
		c, _, err := ex.Versus(t.Context(), single, "1")
		if err != nil || c.First != "a" {
			t.Errorf("job %d against the array: %+v, %v", single, c, err)
		}
		mu.Lock()
		before := len(began)
		mu.Unlock()
		time.Sleep(8 * time.Second)
		c, _, err = ex.Versus(t.Context(), other, "1")
		if err != nil || !strings.Contains(c.Note, "running tasks") {
			t.Errorf("one array against the other: %+v, %v", c, err)
		}
		mu.Lock()
		defer mu.Unlock()
		// Each waited its turn: the single job, then the new array and the old one in turns.
		want := []int64{single, other, array, other, array, other, array}
		got := began[before:]
		if len(got) < len(want) {
			t.Fatalf("began %v, want %v", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("began %v, want %v", got, want)
			}
		}
	})
}
