package rabbitmq

import (
	"context"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// up returns the connection, and makes a new one if necessary.
func (q *Queue) up(ctx context.Context) (*live, error) {
	q.order.Lock()
	defer q.order.Unlock()
	return q.upOrdered(ctx)
}

// upOrdered is up for a caller that holds order.
func (q *Queue) upOrdered(ctx context.Context) (*live, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.begin()
	q.mu.Lock()
	l := q.live
	q.mu.Unlock()
	if l != nil && !l.IsClosed() && !l.publish.IsClosed() && !l.read.IsClosed() {
		return l, nil
	}
	if l != nil {
		l.close()
	}
	c, err := dial(ctx, q.options.URL, "fairlead bridge "+q.options.Queue)
	if err != nil {
		return nil, err
	}
	l = &live{
		Connection: c, q: q, gone: make(chan struct{}), began: time.Now(),
		receipts: map[string]uint64{}, dropped: map[string]drop{}, barriers: map[string]chan struct{}{},
	}
	stop := context.AfterFunc(ctx, l.close)
	defer stop()
	if err := l.begin(ctx); err != nil {
		l.close()
		return nil, explain(&q.options, err)
	}
	q.mu.Lock()
	q.live = l
	q.mu.Unlock()
	return l, nil
}

// begin takes the session, and starts to read the messages for the bridge.
func (l *live) begin(ctx context.Context) (err error) {
	closed := l.NotifyClose(make(chan *amqp.Error, 1))
	go func() {
		<-closed
		close(l.gone)
	}()
	if err := l.takeSession(ctx); err != nil {
		return err
	}
	there, err := isThere(l.Connection, &l.q.options)
	if err != nil {
		return err
	}
	work, err := fitting(l.Connection, &l.q.options)
	if err != nil {
		return err
	}
	if l.publish, err = l.Channel(); err != nil {
		return err
	}
	if err := declare(l.publish, &l.q.options, work); err != nil {
		return err
	}
	if err := l.publish.Confirm(false); err != nil {
		return err
	}
	l.returned = l.publish.NotifyReturn(make(chan amqp.Return, batch))
	if l.read, err = l.Channel(); err != nil {
		return err
	}
	l.q.reports.Renumber()
	for name, note := range map[string]func(amqp.Delivery) bool{
		"reports": l.hearReport, "receipts": l.hearReceipt, "dropped": l.hearDropped,
	} {
		deliveries, err := l.read.Consume(l.q.options.name(name), "", false, false, false, false, nil)
		if err != nil {
			return fmt.Errorf("read %s: %w", l.q.options.name(name), err)
		}
		go func() {
			for d := range deliveries {
				l.hear(d, note)
			}
		}()
	}
	return l.openGate(ctx, there)
}

// batch is how many publications may be unconfirmed.
const batch = 500
