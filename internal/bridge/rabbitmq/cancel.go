package rabbitmq

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/queue"
)

// Cancel implements bridge.QS. What lies in the queue is taken out as a worker would take it;
// for that the queue is looked through. What a worker has, or is being given, that one is told.
func (q *Queue) Cancel(ctx context.Context, all []bridge.Entry) error {
	if len(all) == 0 {
		return nil
	}
	q.order.Lock()
	defer q.order.Unlock()
	l, err := q.upOrdered(ctx)
	if err != nil {
		return err
	}
	waiting := map[string]bool{}
	for _, e := range all {
		if q.reports.End(e.Marker) != nil {
			continue
		}
		q.mu.Lock()
		q.cancelled[e.Marker] = true
		q.mu.Unlock()
		waiting[e.Marker] = true
		if q.reports.Started(e.Marker) != nil {
			l.notifyWorker(e.Marker)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	if err := l.takeOut(ctx, waiting); err != nil {
		return explain(&q.options, fmt.Errorf("take cancelled jobs out of the queue: %w", err))
	}
	// Of the reports just published.
	return explain(&q.options, l.barrier(ctx, "reports"))
}

// takeOut reports the cancelled tasks, and then removes them.
func (l *live) takeOut(ctx context.Context, cancelled map[string]bool) (err error) {
	browsed := l.browse(func(task *mq.Task) bool {
		if !cancelled[task.Marker] || err != nil {
			return true
		}
		r := mq.Report{
			Marker: task.Marker, State: string(queue.Cancelled), Ended: time.Now(), Error: "cancelled before it started",
		}
		err = l.confirmed(ctx, l.q.options.name("reports"), publishing(r))
		return err != nil
	})
	if err != nil {
		return err
	}
	return browsed
}
