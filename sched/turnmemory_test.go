package sched_test

import (
	"testing"
	"time"
)

// TestTurnsOutlastARestart: tasks without a limit outlive their predictions, and nodes are held for a wide job. A new
// scheduler that takes over holds them at once: the job does not wait as long again.
func TestTurnsOutlastARestart(t *testing.T) {
	for _, backfill := range backfills {
		w := newLasting(t, usersOf("fair"), backfill)
		for range 3 {
			w.add("a", 1, 1, time.Second, 0)
		}
		w.play(epoch.Add(2 * time.Second))
		for range 3 {
			w.add("a", 1, 1, 300*time.Second, 0)
		}
		wide := w.add("b", 2, 4, 10*time.Second, 0)
		for range 100 {
			w.add("a", 1, 1, time.Second, 0)
		}
		for w.Read().KeptFor(wide) == nil || !w.Read().KeptFor(wide).Held {
			if w.play(w.now.Add(time.Second)); w.now.Sub(epoch) > 400*time.Second {
				t.Fatalf("%v: nodes are never held: %v", backfill, w.began[wide])
			}
		}
		since := w.Read().KeptFor(wide).Since
		next := newLasting(t, usersOf("fair"), backfill)
		next.now, next.last = w.now, 1000
		next.Advance(w.now)
		for id, at := range w.ends {
			next.ends[next.Adopt(w.remake[w.runs[id]](next), 0, w.began[w.runs[id]], w.now)] = at
		}
		next.lengths = w.lengths
		for id := int64(1); id <= w.last; id++ {
			if w.began[id].IsZero() {
				next.Add(w.remake[id](next), w.now)
			}
		}
		next.Memory().Know(w.Memory().Levels(), w.now)
		next.play(w.now)
		if k := next.Read().KeptFor(wide); k == nil || !k.Held || !k.Since.Equal(*since) {
			t.Errorf("%v: after the restart the room is %+v, want it held, and first since %v", backfill, k, since)
		}
	}
}
