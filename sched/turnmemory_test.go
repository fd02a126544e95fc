package sched_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// TestTurnsOutlastARestart: tasks without a limit outlive their predictions, and nodes are held for a wide job. A new
// scheduler that takes over holds them at once, so the job does not wait as long again.
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
		since, next := w.Read().KeptFor(wide).Since, w.restart(t, "fair", backfill)
		if k := next.Read().KeptFor(wide); k == nil || !k.Held || !k.Since.Equal(*since) {
			t.Errorf("%v: after the restart the room is %+v, want it held, and first since %v", backfill, k, since)
		}
	}
}

// restart is a new scheduler that takes over.
func (w *lasting) restart(t *testing.T, policy string, backfill sched.Backfill) *lasting {
	t.Helper()
	next := newLasting(t, usersOf(policy), backfill)
	next.now, next.last = w.now, 1000
	next.Advance(w.now)
	for _, id := range slices.Sorted(maps.Keys(w.ends)) {
		next.ends[next.Adopt(w.remake[w.runs[id]](next), 0, w.began[w.runs[id]], w.now)] = w.ends[id]
	}
	next.lengths = w.lengths
	for id := int64(1); id <= w.last; id++ {
		if w.began[id].IsZero() {
			next.Add(w.remake[id](next), w.now)
		}
	}
	next.Memory().Know(w.Memory().Levels(), w.now)
	next.play(w.now)
	return next
}

// TestTurnsAreTakenOver: under policies that compare only running tasks, the wide jobs of one user run one after the
// other until the user has caught up, and then jobs of others run. A new scheduler that takes over continues in the
// same way.
func TestTurnsAreTakenOver(t *testing.T) {
	for _, policy := range []string{"drf", "load"} {
		for _, backfill := range backfills {
			w := newLasting(t, usersOf(policy), backfill)
			for i := range 300 {
				w.add("a", 1, 1, time.Duration(20+7*i%60)*time.Second, 0)
			}
			w.play(epoch.Add(60 * time.Second))
			var wide []int64
			for range 8 {
				wide = append(wide, w.add("b", 2, 4, 20*time.Second, 0))
			}
			for w.began[wide[0]].IsZero() {
				w.play(w.now.Add(time.Second))
			}
			w.play(w.now.Add(time.Second))
			next := w.restart(t, policy, backfill)
			next.play(w.now.Add(time.Minute))
			if at := w.began[wide[0]].Add(20 * time.Second); !next.began[wide[1]].Equal(at) {
				t.Errorf("%s, %v: after a restart the second wide job starts at %v, want %v", policy, backfill,
					next.began[wide[1]], at)
			}
			w.play(w.now.Add(time.Hour))
			if gap := w.began[wide[1]].Sub(w.began[wide[0]]); gap != 20*time.Second {
				t.Errorf("%s, %v: the second wide job starts %v after the first", policy, backfill, gap)
			}
			if all := w.began[wide[7]].Sub(w.began[wide[0]]); all < 7*20*time.Second+20*time.Second {
				t.Errorf("%s, %v: nobody else ran before the last wide job started, %v after the first", policy, backfill, all)
			}
		}
	}
}
