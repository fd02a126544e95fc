package rabbitmq

import (
	"context"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
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
			l.tellWorker(e.Marker)
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

// takeOut reports what is cancelled, and then removes it.
func (l *live) takeOut(ctx context.Context, cancelled map[string]bool) (err error) {
	browsed := l.browse(func(task *mq.Task) bool {
		if !cancelled[task.Marker] || err != nil {
			return true
		}
		r := mq.Report{Marker: task.Marker, State: string(fairlead.Cancelled), Ended: time.Now(), Error: "cancelled before it started"}
		err = l.confirmed(ctx, l.q.options.name("reports"), publishing(r))
		return err != nil
	})
	if err != nil {
		return err
	}
	return browsed
}

// tellWorker has the worker of a task, if there is one, end it.
func (l *live) tellWorker(marker string) {
	err := l.publish.Publish(l.q.options.name("cancel"), marker, false, false, amqp.Publishing{MessageId: marker})
	if err != nil {
		l.q.options.Logger.Warn("a worker could not be told that its task is cancelled", "marker", marker, "error", err)
	}
}

// publishing is the message of a report.
func publishing(r mq.Report) amqp.Publishing {
	return amqp.Publishing{DeliveryMode: amqp.Persistent, MessageId: r.Marker, Type: mq.ReportFormat, ContentType: "application/json", AppId: "fairlead", Body: r.Encode(reportLimit)}
}

// reportLimit is how large a report may be.
const reportLimit = 1 << 20
