package rabbitmq

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// live is a connection that has the session: whatever earlier ones have sent has arrived, or
// never will.
type live struct {
	*amqp.Connection
	q        *Queue
	publish  *amqp.Channel    // with confirmations
	returned chan amqp.Return // what could not be routed
	read     *amqp.Channel    // of reports and receipts
	gone     chan struct{}    // closed when the connection is
	began    time.Time

	mu       sync.Mutex
	dead     bool              // what is heard of it counts no more
	receipts map[string]uint64 // markers, and the tags of their receipts
	barriers map[string]chan struct{}
}

// dial connects.
func dial(ctx context.Context, url, name string) (*amqp.Connection, error) {
	stop, connected := func() bool { return true }, false
	if _, err := parse(url); err != nil {
		return nil, err
	}
	c, err := amqp.DialConfig(url, amqp.Config{
		Heartbeat: heartbeat, Properties: amqp.Table{"connection_name": name},
		Dial: func(network, address string) (net.Conn, error) {
			d := net.Dialer{Timeout: 10 * time.Second}
			c, err := d.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			stop = context.AfterFunc(ctx, func() { c.Close() })
			connected = true
			// Until it is open; the library takes it back then.
			return c, c.SetDeadline(time.Now().Add(15 * time.Second))
		},
	})
	stop()
	if err != nil {
		return nil, unconnected(ctx, url, connected, err)
	}
	return c, nil
}

// up is the connection, a new one if there is none.
func (q *Queue) up(ctx context.Context) (*live, error) {
	q.order.Lock()
	defer q.order.Unlock()
	return q.upOrdered(ctx)
}

// upOrdered is up for a caller that holds the order.
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
		receipts: map[string]uint64{}, barriers: map[string]chan struct{}{},
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

// close ends the connection without waiting for the other side.
func (l *live) close() {
	l.mu.Lock()
	l.dead = true
	l.mu.Unlock()
	l.CloseDeadline(time.Now().Add(time.Second))
}

// begin takes the session, and hears what there is to be heard.
func (l *live) begin(ctx context.Context) (err error) {
	closed := l.NotifyClose(make(chan *amqp.Error, 1))
	go func() {
		<-closed
		close(l.gone)
	}()
	if err := l.takeSession(ctx); err != nil {
		return err
	}
	if l.publish, err = l.Channel(); err != nil {
		return err
	}
	if err := declare(l.publish, &l.q.options); err != nil {
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
	for name, note := range map[string]func(amqp.Delivery) bool{"reports": l.hearReport, "receipts": l.hearReceipt} {
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
	return l.openGate(ctx)
}

// takeSession waits until no other connection has it.
func (l *live) takeSession(ctx context.Context) error {
	for {
		ch, err := l.Channel()
		if err != nil {
			return err
		}
		_, err = ch.QueueDeclare(l.q.options.name("session"), false, false, true, false, nil)
		ch.Close()
		var refused *amqp.Error
		if err == nil {
			l.q.busySince = time.Time{}
			l.sign()
			return nil
		}
		if !errors.As(err, &refused) || refused.Code != amqp.ResourceLocked {
			return err
		}
		if !pause(ctx, 50*time.Millisecond) || time.Since(l.began) > 2*time.Second {
			return l.busy()
		}
	}
}

// barrier returns when all that was in a queue has been heard.
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
	err := l.publish.PublishWithContext(ctx, "", l.q.options.name(queue), false, false, amqp.Publishing{Type: "barrier", MessageId: id})
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

// hear takes note of a message. Those of an earlier connection come again, under other tags.
func (l *live) hear(d amqp.Delivery, note func(amqp.Delivery) (keep bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return
	}
	if d.Type == "barrier" { // of this process, or an earlier one
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
		l.q.options.Logger.Warn("a message in the queue of reports is none, and thrown away", "error", err)
		return false
	}
	if !l.q.reports.Hear(report, d.DeliveryTag) {
		return false
	}
	if !report.Over() && l.q.isCancelled(report.Marker) {
		go l.tellWorker(report.Marker) // it was on its way to its worker when it was cancelled
	}
	return true
}

func (q *Queue) isCancelled(marker string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.cancelled[marker]
}

// hasReceipt reports whether a marker has arrived.
func (l *live) hasReceipt(marker string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.receipts[marker]
	return ok
}

// dropReceipt removes the receipt of a marker.
func (l *live) dropReceipt(marker string) error {
	l.mu.Lock()
	tag, ok := l.receipts[marker]
	delete(l.receipts, marker)
	l.mu.Unlock()
	if !ok {
		return nil
	}
	return l.read.Ack(tag, false)
}
