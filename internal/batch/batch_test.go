package batch

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestCallsGather makes two thousand calls while a batch runs: they go into two more batches, and each call
// gets its own answer.
func TestCallsGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("the database is away")
		var sizes []int
		b := &Batcher[int, int]{MaxWeight: 1000, Run: func(calls []*Call[int, int]) {
			sizes = append(sizes, len(calls))
			time.Sleep(time.Second)
			for _, c := range calls {
				if len(sizes) == 2 {
					c.Answer(0, away)
				} else {
					c.Answer(-c.In, nil)
				}
			}
		}}
		var wg sync.WaitGroup
		var mu sync.Mutex
		failed := 0
		for i := range 2001 {
			wg.Go(func() {
				if i > 0 {
					time.Sleep(time.Millisecond) // the first batch runs
				}
				if out, err := b.Do(t.Context(), i); errors.Is(err, away) {
					mu.Lock()
					failed++
					mu.Unlock()
				} else if err != nil || out != -i {
					t.Errorf("call %d: %d, %v", i, out, err)
				}
			})
		}
		wg.Wait()
		if len(sizes) != 3 || sizes[0] != 1 || sizes[1] != 1000 || sizes[2] != 1000 || failed != 1000 {
			t.Errorf("batches of %v, %d calls failed; want 1, 1000 and 1000, the second of which fails", sizes, failed)
		}
		synctest.Wait()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.busy > 0 || len(b.waiting) > 0 {
			t.Error("something is left")
		}
	})
}

// TestWeights checks that two batches run at once, and that a call above MaxWeight gets its own batch.
func TestWeights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		batches := make(chan []int, 10)
		b := &Batcher[int, int]{AtOnce: 2, MaxWeight: 10, Weight: func(n int) int { return n }}
		b.Run = func(calls []*Call[int, int]) {
			var weights []int
			for _, c := range calls {
				weights = append(weights, c.In)
				defer c.Answer(0, nil)
			}
			batches <- weights
			time.Sleep(time.Second)
		}
		for i, weight := range []int{1, 1, 7, 3, 20, 4} {
			go b.Do(context.Background(), weight)
			if synctest.Wait(); i < 2 && len(batches) != i+1 {
				t.Errorf("%d batches are under way after %d calls", len(batches), i+1)
			}
		}
		time.Sleep(10 * time.Second)
		b.Close()
		close(batches)
		var got [][]int
		for weights := range batches {
			got = append(got, weights)
		}
		if len(got) != 5 || len(got[2]) != 2 || len(got[3]) != 1 || len(got[4]) != 1 {
			t.Errorf("batches %v", got)
		}
	})
}

// TestClose checks that Close answers every call: it refuses waiting and later calls, and running ones get
// their answers.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := errors.New("closed")
		b := &Batcher[int, int]{MaxWeight: 10, Closed: closed, Run: func(calls []*Call[int, int]) {
			time.Sleep(time.Second)
			for _, c := range calls {
				c.Answer(c.In, nil)
			}
		}}
		got := make([]error, 3)
		for i := range 2 {
			go func() { _, got[i] = b.Do(context.Background(), i) }()
			synctest.Wait()
		}
		late, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := b.Do(late, 3); !errors.Is(err, context.Canceled) {
			t.Errorf("a call whose context has ended: %v", err)
		}
		b.Close()
		synctest.Wait()
		_, got[2] = b.Do(context.Background(), 2)
		if got[0] != nil || !errors.Is(got[1], closed) || !errors.Is(got[2], closed) {
			t.Errorf("answers %v", got)
		}
	})
}
