package web

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// lateOrder has 250 waiting jobs, in the order of their numbers. The order becomes known between two pages.
type lateOrder struct {
	JobSource
	known bool
}

func (l *lateOrder) Next(_ context.Context, _ string, place int64, n int) (ids, places []int64) {
	for id := place + 1; l.known && id <= 250 && len(ids) < n; id++ {
		ids, places = append(ids, id), append(places, id)
	}
	return ids, places
}

func (l *lateOrder) Places(context.Context, string) func(int64) int64 {
	known := l.known
	return func(id int64) int64 {
		if !known {
			return 0
		}
		return id
	}
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

// countedEnds counts how often each list asks how a job ended.
type countedEnds struct {
	lateOrder
	asked map[int64]int
}

func (c *countedEnds) List(ctx context.Context, q queue.Query, o JobOptions) (*api.JobList, error) {
	list, err := c.lateOrder.List(ctx, q, o)
	for i := range list.Jobs {
		if j := &list.Jobs[i]; o.Ends {
			c.asked[j.ID]++
			j.LastEnd = &api.Task{Job: j.ID, Node: "n1"}
		}
	}
	return list, err
}

func (c *countedEnds) InOrder(ctx context.Context) []int64 {
	ids, _ := c.Next(ctx, "", 0, 250)
	return ids
}

// rareJobs has 5,000 waiting jobs in the order of their numbers. ann has some of them.
type rareJobs struct {
	JobSource
	ann   []int64
	looks int // how often the order was requested
}

func (r *rareJobs) Next(_ context.Context, _ string, place int64, n int) (ids, places []int64) {
	r.looks++
	for id := place + 1; id <= 5000 && len(ids) < n; id++ {
		ids, places = append(ids, id), append(places, id)
	}
	return ids, places
}

func (*rareJobs) Places(context.Context, string) func(int64) int64 {
	return func(id int64) int64 { return id }
}

func (r *rareJobs) List(_ context.Context, q queue.Query, _ JobOptions) (*api.JobList, error) {
	list := &api.JobList{}
	for _, id := range r.ann {
		if id <= q.After || len(q.IDs) > 0 && !slices.Contains(q.IDs, id) {
			continue
		}
		if list.More = len(list.Jobs) == q.Limit; list.More {
			break
		}
		list.Jobs = append(list.Jobs, api.Job{ID: id, User: "ann", Rank: id})
	}
	return list, nil
}

// TestRareJobsAreAllListed: if few waiting jobs match a filter that the store can answer, the page asks the store
// early, and keeps the jobs that it found before. If the jobs only seem to be few, because the first jobs belong to
// others, the page reads on in the order.
func TestRareJobsAreAllListed(t *testing.T) {
	few := []int64{100, 1000, 2500, 4900}
	var late []int64
	for id := int64(1000); id < 4000; id++ {
		late = append(late, id)
	}
	for _, c := range []struct {
		ann, first  []int64
		looks, jobs int
	}{{few, few, 1, 4}, {late, []int64{1000, 1001}, 6, queueRows}} {
		jobs := &rareJobs{ann: c.ann}
		f := finder{ctx: t.Context(), src: Source{Jobs: jobs}, filter: &filter{Query: queue.Query{User: "ann"}}}
		next, err := f.inOrder("")
		if err != nil {
			t.Fatal(err)
		}
		var ids []int64
		for _, j := range f.list.Jobs {
			ids = append(ids, j.ID)
		}
		if len(ids) != c.jobs || !slices.Equal(ids[:len(c.first)], c.first) || f.short {
			t.Errorf("it lists %v (short: %v), want %v first", ids, f.short, c.first)
		}
		if jobs.looks != c.looks || (next == "") != (c.jobs < queueRows) {
			t.Errorf("it read %d pieces of the order, want %d; the next page is %q", jobs.looks, c.looks, next)
		}
	}
}

// TestEndsAreReadOnce checks that a list that is filtered by node reads how each job ended only once, and shows it.
func TestEndsAreReadOnce(t *testing.T) {
	for _, known := range []bool{false, true} {
		jobs := &countedEnds{lateOrder{known: known}, map[int64]int{}}
		f := parseFilter("node:n1", time.Now())
		find := finder{ctx: t.Context(), src: Source{Jobs: jobs}, filter: &f, options: JobOptions{Ends: true}}
		if _, err := find.inOrder(""); err != nil {
			t.Fatal(err)
		}
		shown := find.list.Jobs
		w := whole{finder: finder{ctx: t.Context(), src: Source{Jobs: jobs}, filter: &f, options: JobOptions{Ends: true}},
			q: &Queue{}, r: &Request{}, seen: map[int64]bool{}}
		asked := jobs.asked
		jobs.asked = map[int64]int{}
		w.each = func(q *Queue) error { shown = append(shown, q.JobList.Jobs...); return nil }
		if err := errors.Join(w.inOrder(), w.byNumber()); err != nil {
			t.Fatal(err)
		}
		for i := range shown {
			if shown[i].LastEnd == nil || shown[i].LastEnd.Job != shown[i].ID {
				t.Fatalf("order known: %v: job %d is shown with the end %v", known, shown[i].ID, shown[i].LastEnd)
			}
		}
		if len(shown) != queueRows+250 {
			t.Errorf("order known: %v: %d jobs are shown", known, len(shown))
		}
		for _, id := range []int64{1, 100} {
			if asked[id] != 1 {
				t.Errorf("order known: %v: the page asks %d times how job %d ended", known, asked[id], id)
			}
			want := 1
			if known {
				want = 2 // a file reads the jobs in order first, and then all others by number
			}
			if jobs.asked[id] != want {
				t.Errorf("order known: %v: the file asks %d times how job %d ended", known, jobs.asked[id], id)
			}
		}
	}
}
