package web

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/access"
)

// queuePage lists jobs: waiting jobs in the order of starts, and all others.
var queuePage = &Page{Name: "queue", Path: queuePath, Title: "Queue", Key: "q", Parts: []string{"list"}, Seen: ByUser,
	Load: loadQueue, Whole: wholeQueue}

func loadQueue(ctx context.Context, src Source, r *Request) (any, error) {
	q := &Queue{Now: time.Now()}
	waits := q.asked(r)
	q.Verbs, q.Submits = verbsOf(q.Columns), r.You.can(access.Submit, access.Object{Owner: r.You.User})
	if err := q.Filter.err(); err != nil {
		if r.Table {
			return nil, err
		}
		return q, q.none(ctx, src)
	}
	q.Later, q.Ages = !r.patient(src), agesOf(q.Columns, q.Filter.Text, r)
	if done, err := q.folded(ctx, src, r, waits); done || err != nil {
		return q, err
	}
	find := finder{ctx: ctx, src: src, filter: &q.Filter, options: q.options()}
	var next string
	var err error
	find.filter.Query.Newest = q.newestFirst()
	switch {
	case q.order != nil && !q.order.stored:
		next, err = find.inColumns(q.order, r.Word("after"))
	case q.order != nil:
		find.filter.Query.Newest = q.order.down
		next, err = find.byNumber(r.Word("after"))
	case waits:
		next, err = find.inOrder(r.Word("after"))
	default:
		next, err = find.byNumber(r.Word("after"))
	}
	if err != nil {
		return nil, err
	}
	if q.Short = find.short; q.Short && q.order != nil && !q.order.stored {
		q.Short, q.Bound = false, "the first "+jobsIn(maxSorted)
		if q.newestFirst() {
			q.Bound = "the newest " + jobsIn(maxSorted)
		}
	}
	q.fill(find.list, r)
	if next != "" {
		q.Next = r.With("after", next)
	}
	if r.Word("after") != "" {
		q.First = r.With("after", "")
	}
	if q.Next+q.First != "" && !q.Later && !r.Table {
		q.Matches, err = q.matches(&find, q.Now)
	}
	return q, err
}

// none lists no job, because the filter has errors: a user who acts on all listed jobs must not act on all
// jobs there are.
func (q *Queue) none(ctx context.Context, src Source) error {
	find := finder{ctx: ctx, src: src, filter: &filter{}}
	err := find.details(nil)
	q.JobList = find.list
	return err
}
