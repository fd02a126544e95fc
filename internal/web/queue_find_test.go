package web

import (
	"context"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// lateOrder has 250 waiting jobs, in the order of their numbers, which becomes known between two pages.
type lateOrder struct {
	JobSource
	known bool
}

func (l *lateOrder) Next(_ context.Context, place int64, n int) (ids, places []int64) {
	for id := place + 1; l.known && id <= 250 && len(ids) < n; id++ {
		ids, places = append(ids, id), append(places, id)
	}
	return ids, places
}

func (l *lateOrder) Placed(context.Context) func(int64) bool {
	known := l.known
	return func(int64) bool { return known }
}

func (l *lateOrder) List(_ context.Context, q queue.Query, _ JobOptions) (*api.JobList, error) {
	list := &api.JobList{}
	for id := q.After + 1; id <= 250; id++ {
		if len(q.IDs) > 0 && !slices.Contains(q.IDs, id) {
			continue
		}
		if list.More = len(list.Jobs) == q.Limit; list.More {
			break
		}
		list.Jobs = append(list.Jobs, api.Job{ID: id})
	}
	return list, nil
}

// TestPagesSkipNoJobsWhenTheOrderIsLate checks that the first page is shown before the order is known, and
// that the next pages have all other jobs.
func TestPagesSkipNoJobsWhenTheOrderIsLate(t *testing.T) {
	for _, known := range []bool{false, true} {
		jobs, cursor, seen := &lateOrder{known: known}, "", map[int64]bool{}
		for page := 0; page == 0 || cursor != ""; page++ {
			f := finder{ctx: t.Context(), src: Source{Jobs: jobs}, filter: &filter{}}
			next, err := f.inOrder(cursor)
			if err != nil || page > 5 {
				t.Fatalf("page %d after %q: %v", page, cursor, err)
			}
			for _, j := range f.list.Jobs {
				if seen[j.ID] {
					t.Errorf("job %d is listed twice", j.ID)
				}
				seen[j.ID] = true
			}
			cursor, jobs.known = next, true
		}
		if len(seen) != 250 {
			t.Errorf("order known at first: %v: the pages have %d of 250 jobs", known, len(seen))
		}
	}
}
