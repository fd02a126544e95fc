package fairlead

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestTogether has two thousand attempts end while a call to the store is under way: they go
// into two more, and everybody hears what became of his.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("the database is away")
		var calls []int
		t1 := &together{finish: func(_ context.Context, results []Result) ([]Verdict, error) {
			calls = append(calls, len(results))
			time.Sleep(time.Second)
			if len(calls) == 2 {
				return nil, away
			}
			return make([]Verdict, len(results)), nil
		}}
		var wg sync.WaitGroup
		var mu sync.Mutex
		failed := 0
		for i := range 2001 {
			wg.Go(func() {
				if i > 0 {
					time.Sleep(time.Millisecond) // the first is under way
				}
				if err := t1.end(Result{Ref: Ref{JobID: int64(i)}}); errors.Is(err, away) {
					mu.Lock()
					failed++
					mu.Unlock()
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(calls) != 3 || calls[0] != 1 || calls[1] != togetherMost || calls[2] != togetherMost || failed != togetherMost {
			t.Errorf("calls with %v results, %d failed; want 1, 1000 and 1000, the second of which fails", calls, failed)
		}
		synctest.Wait()
		t1.mu.Lock()
		defer t1.mu.Unlock()
		if t1.busy || len(t1.results) > 0 {
			t.Error("something is left")
		}
	})
}
