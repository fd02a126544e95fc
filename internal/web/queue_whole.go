package web

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// wholeQueue reads all jobs that match, in the order of the list. It calls the function "each" with some
// jobs at a time, at least once.
func wholeQueue(ctx context.Context, src Source, r *Request, each func(*Queue) error) error {
	q := &Queue{Now: time.Now()}
	waits := q.asked(r)
	if err := q.Filter.err(); err != nil {
		return err
	}
	q.Later = src.Jobs.Waiting() > muchWaits
	w := whole{finder: finder{ctx: ctx, src: src, filter: &q.Filter, options: q.options()}, q: q, r: r, each: each}
	q.Filter.Query.Newest = q.newestFirst()
	switch {
	case q.order != nil && !q.order.stored:
		if err := w.inColumns(); err != nil || w.began {
			return err
		}
		return w.show(nil)
	case q.order != nil:
		q.Filter.Query.Newest = q.order.down
	case waits:
		w.seen = map[int64]bool{}
		if err := w.inOrder(); err != nil {
			return err
		}
	}
	if err := w.byNumber(); err != nil || w.began {
		return err
	}
	return w.show(nil) // no job matches
}

// whole reads all jobs of a list.
type whole struct {
	finder
	q     *Queue
	r     *Request
	each  func(*Queue) error
	seen  map[int64]bool // jobs with a place in the order of starts, which come first
	began bool
}

// inOrder shows the jobs with a place in the order of starts. It waits for the order, because a file without
// an order cannot be refreshed as a page can. It reads the order once, so that a job that moves meanwhile is
// neither left out nor listed twice.
func (w *whole) inOrder() error {
	for ids := w.src.Jobs.InOrder(w.ctx); len(ids) > 0; {
		n := min(wholeChunk, len(ids))
		jobs, err := w.at(ids[:n])
		if err != nil {
			return err
		}
		var found []int64
		for _, id := range ids[:n] {
			w.seen[id] = true
			if j := jobs[id]; j != nil && w.filter.passes(j) {
				found = append(found, id)
			}
		}
		if err := w.show(found); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// inColumns shows all jobs in the order of a column.
func (w *whole) inColumns() error {
	ids, _, err := w.sorted(w.q.order, 0)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(ids, wholeChunk) {
		w.ends = nil
		if err := w.show(some); err != nil {
			return err
		}
	}
	return nil
}

// byNumber shows all other jobs by number.
func (w *whole) byNumber() error {
	return w.scan(w.filter.Query, func(jobs []api.Job, _ int64) (bool, error) {
		var found []int64
		for i := range jobs {
			if !w.seen[jobs[i].ID] {
				found = append(found, jobs[i].ID)
			}
		}
		return true, w.show(found)
	})
}

// show shows the jobs with these numbers.
func (w *whole) show(ids []int64) error {
	if len(ids) == 0 && w.began {
		return nil
	}
	if err := w.details(ids); err != nil {
		return err
	}
	w.began, w.ends = true, nil
	w.q.fill(w.list, w.r)
	return w.each(w.q)
}
