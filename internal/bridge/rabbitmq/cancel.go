package rabbitmq

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/queue"
)

// Cancel implements bridge.QS. It browses the queue and removes the cancelled tasks in it like a worker. If a
// worker has a task, or is about to get it, Cancel notifies the worker.
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
		return explain(&q.options, fmt.Errorf("take canceled jobs out of the queue: %w", err))
	}
	// Wait until the reports just published are heard.
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
