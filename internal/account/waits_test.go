package account

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// TestReadWaits checks that the waits equal the sums of Read for the same window. If the limit of tasks to read makes
// the window begin later, Cut is set, and the waits equal the sums for the shorter window.
func TestReadWaits(t *testing.T) {
	a := &archive{tasks: map[int64][]queue.Task{}}
	run := func(from, to time.Time) queue.Task {
		task := queue.Task{Attempt: 1, State: queue.Running, Started: from}
		if !to.IsZero() {
			task.State, task.Ended = queue.Succeeded, to
		}
		return task
	}
	for i := range 20 { // one after another; each waits longer than the one before
		at := day(4, 1, 0).Add(time.Duration(i) * time.Hour)
		a.add(queue.Job{Kind: []string{"a", "b"}[i%2], Tasks: 1, Succeeded: 1, Submitted: day(3, 31, 23),
			Ended: at.Add(time.Hour)}, run(at, at.Add(time.Hour)))
	}
	a.add(queue.Job{Tasks: 3, Succeeded: 2, Submitted: day(4, 1, 0), Ended: day(4, 1, 9)}, run(day(4, 1, 2), day(4, 1, 3)),
		run(day(4, 1, 8), day(4, 1, 9)))
	a.add(queue.Job{Tasks: 9, Succeeded: 1, Running: 1, Submitted: day(4, 1, 0)}, run(day(4, 1, 1), day(4, 1, 2)),
		run(day(4, 1, 18), time.Time{}), queue.Task{State: queue.Waiting})
	a.add(queue.Job{Tasks: 1, Submitted: day(4, 1, 0)})
	steps := []time.Duration{time.Hour, 12 * time.Hour, 1<<63 - 1}
	for _, most := range []int{100, 12, 7, 3, 1} {
		w, err := ReadWaits(t.Context(), a, Ask{Since: day(4, 1, 0), Until: day(4, 1, 20)}, steps, most)
		if err != nil {
			t.Fatal(err)
		}
		if w.Cut != (most < 22) || w.Cut == w.Since.Equal(day(4, 1, 0)) || w.Started == 0 {
			t.Errorf("at most %d: since %v, cut %v, %d started", most, w.Since, w.Cut, w.Started)
		}
		ask := Ask{Since: w.Since, Until: w.Until, Zone: time.UTC}
		rows, err := Read(t.Context(), a, ask)
		if err != nil {
			t.Fatal(err)
		}
		if r := rows[0]; r.Started != w.Started || r.P50Wait != w.P50Wait || r.P95Wait != w.P95Wait ||
			r.MaxWait != w.MaxWait || r.MeanWait != w.MeanWait {
			t.Errorf("at most %d, since %v:\ngot  %+v\nwant %+v", most, w.Since, w.Row, r)
		}
		ask.By = []string{"kind"}
		kinds, err := Read(t.Context(), a, ask)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range w.Kinds {
			if i := slices.IndexFunc(kinds, func(r Row) bool { return r.Kind == k.Kind }); i < 0 ||
				kinds[i].Started != k.Started || kinds[i].P95Wait != k.P95Wait {
				t.Errorf("at most %d: kind %q: %+v", most, k.Kind, k)
			}
		}
		if w.Steps[0]+w.Steps[1]+w.Steps[2] != w.Started || most == 100 && !slices.Equal(w.Steps, []int64{2, 13, 9}) {
			t.Errorf("at most %d: steps %v of %d", most, w.Steps, w.Started)
		}
	}
}
