package explain

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead/sched"
)

// TestOrderOfAPool lists the jobs of a pool with their places in the order of all jobs. A job that the order has in
// another pool, because it was moved since, has no place in this pool.
func TestOrderOfAPool(t *testing.T) {
	o := &Order{Position: map[int64]int64{}, Labels: []label{{Path: "a/x"}, {Path: "ax"}, {Path: "a/y"}}}
	for _, s := range []sched.Start{{Job: 1, Pool: 1}, {Job: 2, Pool: 0}, {Job: 2, Pool: 0}, {Job: 3, Pool: 2}} {
		o.Add(s, 1)
	}
	for _, c := range []struct {
		pool         string
		after        int64
		n            int
		jobs, places []int64
	}{
		{"", 0, 9, []int64{1, 2, 3}, []int64{1, 2, 4}},
		{"a", 0, 9, []int64{2, 3}, []int64{2, 4}},
		{"a", 2, 9, []int64{3}, []int64{4}},
		{"a", 0, 1, []int64{2}, []int64{2}},
		{"a/y", 0, 9, []int64{3}, []int64{4}},
		{"b", 0, 9, nil, nil},
	} {
		if jobs, places := o.After(c.pool, c.after, c.n); !slices.Equal(jobs, c.jobs) || !slices.Equal(places, c.places) {
			t.Errorf("%d jobs of %q after %d: %v at %v, want %v at %v", c.n, c.pool, c.after, jobs, places, c.jobs, c.places)
		}
	}
	for job, want := range map[int64]int64{1: 0, 2: 2, 3: 4, 4: 0} {
		if at := o.Place("a", job); at != want {
			t.Errorf("job %d has place %d in pool a, want %d", job, at, want)
		}
	}
}
