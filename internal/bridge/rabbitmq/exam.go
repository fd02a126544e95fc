package rabbitmq

import (
	"context"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// openGate lets workers take work. If the gate is closed, the broker has been restarted. Then no worker has a
// task, so all tasks are in the queue, and openGate compares the queue with the receipts. It also compares
// them if the queue was missing: the messages of the queue are lost then, and only tasks that workers have
// begun have reports.
func (l *live) openGate(ctx context.Context, there bool) error {
	open, err := isOpen(l.Connection, &l.q.options)
	if err != nil || open && there {
		return err
	}
	for _, queue := range []string{"reports", "receipts"} {
		if err := l.barrier(ctx, queue); err != nil {
			return fmt.Errorf("read %s: %w", queue, err)
		}
	}
	found, err := l.compare(ctx)
	if err != nil {
		return fmt.Errorf("look at the queue after a restart of RabbitMQ: %w", err)
	}
	l.q.mu.Lock()
	l.q.exam = found
	l.q.mu.Unlock()
	return l.publish.ExchangeDeclare(l.q.options.name("open"), amqp.ExchangeFanout, false, false, false, false, nil)
}

// compare makes the receipts match the queue, and returns the markers of the messages in the queue.
func (l *live) compare(ctx context.Context) (there map[string]bool, err error) {
	there = map[string]bool{}
	var missing []string
	err = l.browse(func(task *mq.Task) bool {
		marker := task.Marker
		if there[marker] || l.q.reports.End(marker) != nil {
			return false
		}
		there[marker] = true
		l.q.reports.Waits(marker)
		if !l.hasReceipt(marker) {
			missing = append(missing, marker)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, marker := range missing {
		if err := l.confirmed(ctx, l.q.options.name("receipts"),
			amqp.Publishing{DeliveryMode: amqp.Persistent, MessageId: marker}); err != nil {
			return nil, err
		}
	}
	return there, l.tooMany(there)
}

// tooMany drops the receipts of messages that are not in the queue.
func (l *live) tooMany(there map[string]bool) error {
	l.mu.Lock()
	var dropped []string
	for marker := range l.receipts {
		if !there[marker] {
			dropped = append(dropped, marker)
		}
	}
	l.mu.Unlock()
	for _, marker := range dropped {
		if err := l.dropReceipt(marker); err != nil {
			return err
		}
	}
	return nil
}

// confirmed publishes to a queue and waits for the confirmation.
func (l *live) confirmed(ctx context.Context, queue string, p amqp.Publishing) error {
	c, err := l.publish.PublishWithDeferredConfirmWithContext(ctx, "", queue, true, false, p)
	if err != nil {
		return err
	}
	ok, err := c.WaitContext(ctx)
	if err == nil && !ok {
		err = fmt.Errorf("RabbitMQ did not accept a message for %s", queue)
	}
	return err
}

// browse reads all messages of the work queue in their order. Messages for which the function "stays" returns true go
// back to their places afterwards; browse removes the others. Meanwhile nobody else can take messages.
func (l *live) browse(stays func(*mq.Task) bool) error {
	ch, err := l.Channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	for {
		d, ok, err := ch.Get(l.q.options.Queue, false)
		if err != nil {
			return err
		}
		if !ok {
			return ch.Close()
		}
		task, err := mq.ReadTask(d.Body)
		if err != nil || stays(task) {
			continue
		}
		if err := d.Ack(false); err != nil {
			return err
		}
	}
}
