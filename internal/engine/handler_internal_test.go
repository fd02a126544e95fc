package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestHandlersShareGoroutines: a task takes over the goroutine of an ended task, never that of a
// running one; goroutines that are idle for a while end, and all of them end with the worker.
func TestHandlersShareGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &handlerWorker{over: make(chan struct{})}
		idle := func() int {
			synctest.Wait()
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.idle)
		}
		ran := 0
		for range 100 {
			w.start(func() { ran++ })
			if n := idle(); n != 1 {
				t.Fatalf("%d goroutines are idle after one task at a time, want 1", n)
			}
		}
		end := make(chan struct{})
		for range 5 {
			w.start(func() { <-end })
		}
		if n := idle(); n != 0 {
			t.Errorf("%d goroutines are idle while 5 tasks run, want 0", n)
		}
		w.start(func() { ran++ })
		if n := idle(); n != 1 || ran != 101 {
			t.Errorf("%d goroutines are idle after %d tasks, want 1 after 101", n, ran)
		}
		close(end)
		if n := idle(); n != 6 {
			t.Errorf("%d goroutines are idle after 6 tasks at once, want 6", n)
		}
		<-time.After(2 * idleFor)
		if n := idle(); n != 0 {
			t.Errorf("%d goroutines are idle after a while, want 0", n)
		}
		w.start(func() { ran++ })
		idle()
		close(w.over) // or else the test does not end before time passes
		if ran != 102 {
			t.Errorf("%d tasks ran, want 102", ran)
		}
	})
}
