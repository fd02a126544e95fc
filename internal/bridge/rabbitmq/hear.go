package rabbitmq

import (
	"context"
	"crypto/rand"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// notifyWorker asks the worker of a task, if the task has one, to end it.
func (l *live) notifyWorker(marker string) {
	err := l.publish.Publish(l.q.options.name("cancel"), marker, false, false, amqp.Publishing{MessageId: marker})
	if err != nil {
		l.q.options.Logger.Warn(
			"the cancellation of a task could not be reported to its worker", "marker", marker, "error", err)
	}
}

// barrier returns when the bridge has heard all messages that were in a queue.
func (l *live) barrier(ctx context.Context, queue string) error {
	id := rand.Text()
	heard := make(chan struct{})
	l.mu.Lock()
	l.barriers[id] = heard
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.barriers, id)
		l.mu.Unlock()
	}()
	err := l.publish.PublishWithContext(ctx, "", l.q.options.name(queue), false, false, amqp.Publishing{
		Type: "barrier", MessageId: id,
	})
	if err != nil {
		return err
	}
	select {
	case <-heard:
		return nil
	case <-l.gone:
		return errors.New("the connection to RabbitMQ was lost")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hear handles a message. Messages of an earlier connection come again with other tags.
func (l *live) hear(d amqp.Delivery, note func(amqp.Delivery) (keep bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return
	}
	if d.Type == "barrier" { // from this process or an earlier one
		if heard := l.barriers[d.MessageId]; heard != nil {
			close(heard)
			delete(l.barriers, d.MessageId)
		}
		d.Ack(false)
	} else if !note(d) {
		d.Ack(false)
	}
}

func (l *live) hearReceipt(d amqp.Delivery) (keep bool) {
	if _, twice := l.receipts[d.MessageId]; twice || l.q.reports.IsForgotten(d.MessageId) {
		return false
	}
	l.receipts[d.MessageId] = d.DeliveryTag
	return true
}

func (l *live) hearReport(d amqp.Delivery) (keep bool) {
	report, err := mq.ReadReport(d.Body)
	if err != nil {
		l.q.options.Logger.Warn("dropped a message in the queue of reports that is not a report", "error", err)
		return false
	}
	if !l.q.reports.Hear(report, d.DeliveryTag) {
		return false
	}
	if !report.Over() && l.q.isCancelled(report.Marker) {
		go l.notifyWorker(report.Marker) // a worker was about to get it when it was canceled
	}
	return true
}

// hasReceipt reports whether a receipt of a marker has arrived.
func (l *live) hasReceipt(marker string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.receipts[marker]
	return ok
}

// dropReceipt removes the receipt of a marker.
func (l *live) dropReceipt(marker string) error {
	if tag, ok := take(l, l.receipts, marker); ok {
		return l.read.Ack(tag, false)
	}
	return nil
}

// take removes the value of a marker from a map of a connection.
func take[V any](l *live, of map[string]V, marker string) (v V, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok = of[marker]
	delete(of, marker)
	return v, ok
}

// hearDropped records that a job was dropped.
func (l *live) hearDropped(d amqp.Delivery) (keep bool) {
	if _, twice := l.dropped[d.MessageId]; twice || d.MessageId == "" || l.q.reports.IsForgotten(d.MessageId) {
		return false
	}
	l.dropped[d.MessageId] = dropOf(&d)
	l.q.reports.Notify()
	return true
}

// droppedAs returns how RabbitMQ dropped a job, if it did.
func (l *live) droppedAs(marker string) (d drop, dropped bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, dropped = l.dropped[marker]
	return d, dropped
}

// forgetDrop removes the message about a dropped job.
func (l *live) forgetDrop(marker string) error {
	if d, ok := take(l, l.dropped, marker); ok {
		return l.read.Ack(d.tag, false)
	}
	return nil
}

func (q *Queue) isCancelled(marker string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.cancelled[marker]
}
