package web

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// crowd is a source with a number of jobs, which counts how often it is read.
type crowd struct {
	JobSource
	jobs  int64
	reads int
}

func (c *crowd) List(_ context.Context, q queue.Query, _ JobOptions) (*api.JobList, error) {
	c.reads++
	out := &api.JobList{}
	for id := q.After + 1; id <= c.jobs && len(out.Jobs) < q.Limit; id++ {
		out.Jobs = append(out.Jobs, api.Job{ID: id})
	}
	out.More = len(out.Jobs) == q.Limit && out.Jobs[q.Limit-1].ID < c.jobs
	return out, nil
}

// TestLongListsAreCountedOnce: the jobs of a short list are counted at each call. The jobs of a long list are too many
// to count to the end, so the count is tried only once a minute.
func TestLongListsAreCountedOnce(t *testing.T) {
	now := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct{ jobs, want, reads int }{{1300, 1300, 6}, {5000, 0, 5}} {
		jobs := &crowd{jobs: int64(c.jobs)}
		find := finder{ctx: t.Context(), src: Source{Jobs: jobs, long: &longLists{}}, filter: &filter{}}
		q := &Queue{Tab: "waiting"}
		for range 2 {
			if n, err := q.matches(&find, now); n != c.want || err != nil {
				t.Errorf("of %d jobs %d match, %v", c.jobs, n, err)
			}
		}
		if jobs.reads != c.reads {
			t.Errorf("%d jobs were read in %d parts for two counts, want %d", c.jobs, jobs.reads, c.reads)
		}
		if q.matches(&find, now.Add(2*time.Minute)); jobs.reads <= c.reads {
			t.Errorf("%d jobs are not counted again after two minutes", c.jobs)
		}
	}
}
