package usage_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/usage"
)

// TestOwnClusterExample plays the example in the comment of OwnCluster.
func TestOwnClusterExample(t *testing.T) {
	var o usage.OwnCluster
	for i, want := range []time.Duration{0, 10 * time.Second, 15 * time.Second} {
		started := after(float64(10 * i))
		if got := o.End(2, 1, ref, started, started.Add(10*time.Second)); got != want {
			t.Errorf("task %d is late by %v, want %v", i, got, want)
		}
	}
	if o.Tasks != 3 || o.Seconds != 25 || o.Largest != 15 {
		t.Errorf("%+v", o)
	}
	if got := o.End(0, 1, ref, ref, after(100)); got != 0 || o.Tasks != 3 {
		t.Errorf("without a share a task is late by %v", got)
	}
}

// TestOwnClusterBorrowed: a pool that had more than its share is ahead of its private cluster, and not late when it
// later gets less.
func TestOwnClusterBorrowed(t *testing.T) {
	var o usage.OwnCluster
	for range 4 { // four slots for 10 s; its own cluster has one
		if got := o.End(1, 1, ref, ref, after(10)); got != 0 {
			t.Errorf("late by %v", got)
		}
	}
	if got := o.End(1, 1, ref, after(40), after(50)); got != 0 {
		t.Errorf("at home it would have ended at 50 s as well, and is late by %v", got)
	}
	if got := o.End(1, 1, after(50), after(55), after(65)); got != 5*time.Second {
		t.Errorf("late by %v, want 5s", got)
	}
}

// TestOwnFinishExample plays the example in the comment of OwnFinish.
func TestOwnFinishExample(t *testing.T) {
	got := usage.OwnFinish(2, []usage.OwnTask{{0, 10, 1}, {0, 4, 1}, {0, 4, 1}, {1, 5, 2}, {2, 1, 4}})
	if want := []float64{10, 4, 8, 15, 17}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOwnFinishBySecond compares with a cluster that is simulated second by second.
func TestOwnFinishBySecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 4).Draw(t, "slots")
		var tasks []usage.OwnTask
		submit := 0
		for range rapid.IntRange(1, 12).Draw(t, "tasks") {
			submit += rapid.IntRange(0, 6).Draw(t, "gap")
			tasks = append(tasks, usage.OwnTask{
				Submit: float64(submit), Length: float64(rapid.IntRange(1, 9).Draw(t, "length")), Width: rapid.IntRange(1, slots).Draw(t, "width"),
			})
		}
		want := make([]float64, len(tasks))
		for next, now := 0, 0.0; next < len(tasks); {
			busy := 0
			for i := range next {
				if want[i] > now {
					busy += tasks[i].Width
				}
			}
			if x := tasks[next]; x.Submit <= now && busy+x.Width <= slots {
				want[next] = now + x.Length
				next++
			} else {
				now++
			}
		}
		if got := usage.OwnFinish(slots, tasks); !slices.Equal(got, want) {
			t.Fatalf("%d slots, %v: got %v, want %v", slots, tasks, got, want)
		}
	})
}

// TestOwnClusterIsFluid: if tasks of one slot always wait, the fluid version ends no later than the private cluster of
// whole slots, and earlier by less than a task.
func TestOwnClusterIsFluid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 5).Draw(t, "slots")
		var tasks []usage.OwnTask
		longest := 0.0
		for range rapid.IntRange(1, 30).Draw(t, "tasks") {
			x := usage.OwnTask{Length: float64(rapid.IntRange(1, 20).Draw(t, "length")), Width: 1}
			longest = math.Max(longest, x.Length)
			tasks = append(tasks, x)
		}
		ends := usage.OwnFinish(slots, tasks)
		order := make([]int, len(tasks))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(ends[a] - ends[b]) })
		var o usage.OwnCluster
		for _, i := range order {
			late := o.End(float64(slots), 1, ref, after(ends[i]-tasks[i].Length), after(ends[i])).Seconds()
			if late > longest+1e-6 {
				t.Fatalf("on its own cluster a task is late by %v s; the longest takes %v", late, longest)
			}
		}
	})
}
