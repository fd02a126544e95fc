// Package rabbitmq is the adapter of a bridge to RabbitMQ, and a worker that runs the tasks that the bridge
// puts there.
//
// Work is in one durable queue with priorities; large priorities are served first. The bridge publishes work,
// persistent and confirmed, to an exchange that copies it to NAME.receipts, which only the bridge reads. A
// worker reports in NAME.reports that a task has started and how it ended, and then acknowledges the task. The
// bridge acknowledges a report when it has saved it.
//
// The guarantees are based on the following facts. If the confirmation of a publication was lost, the
// publication has arrived if there is a receipt, because the exchange hands a message to both queues at once.
// It cannot arrive later, because NAME.session is a queue that only one connection can have, and that becomes
// free only when the connection that published has ended.
//
// A crash of the broker may leave an unconfirmed message in only one of the two queues. So nobody takes work
// after a restart until the bridge has compared the queues: the exchange NAME.open does not survive a restart,
// and workers wait for it. The bridge declares it when it has written the missing receipts and removed the
// superfluous ones. At the same time it removes tasks whose ends were reported.
//
// RabbitMQ drops jobs if somebody gave the queue a limit (a policy with message-ttl or max-length), or if a
// consumer rejects them. It hands these jobs to NAME.dropped, which the bridge reads. If somebody deletes the
// queue, the bridge notices that within seconds, makes the queue again, and compares it with the receipts as
// after a restart.
package rabbitmq

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/wait"
)

// Options says where the queue is.
type Options struct {
	URL   string // amqp://user:password@host:port/vhost
	Queue string // queue for work; the other names begin with its name
	// Priorities is the largest priority, at most 255; default 10. RabbitMQ recommends few.
	Priorities int
	Logger     *slog.Logger // default: discards
	// Away records times in which RabbitMQ does not answer. Default: one that writes to the Logger.
	Away *wait.Outage
}

func (o *Options) defaults() {
	o.Priorities = cmp.Or(o.Priorities, 10)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Away == nil {
		o.Away = wait.NewOutage(o.Logger, "RabbitMQ does not answer", "RabbitMQ answers again").Refuses(
			"RabbitMQ answers, but refuses")
	}
}

func (o *Options) name(part string) string { return o.Queue + "." + part }

// Queue is a bridge.QS.
type Queue struct {
	options Options
	reports *mq.Reports
	end     context.CancelFunc
	ended   sync.WaitGroup
	begin   func() // begins to keep a connection, once

	order sync.Mutex // held while publishing or connecting
	// busySince is when another connection was first found to hold the session; zero if none holds it.
	busySince time.Time  // guarded by order
	mu        sync.Mutex // guards the fields below
	live      *live
	// exam holds the markers that the last comparison found in the queue, and those submitted since; nil: this
	// process made no comparison.
	exam map[string]bool
	// cancelled holds the markers whose workers must be notified when they start.
	cancelled map[string]bool
}

var _ bridge.QS = (*Queue)(nil)

// Changed implements bridge.QS.
func (q *Queue) Changed() <-chan struct{} {
	q.begin()
	return q.reports.Changed()
}

// Close implements bridge.QS.
func (q *Queue) Close() error {
	q.end()
	q.begin() // so that nothing begins later
	q.ended.Wait()
	q.order.Lock()
	defer q.order.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.live != nil {
		q.live.close()
	}
	return nil
}

// live is a connection that holds the session. All messages of earlier connections have arrived, or never
// will.
type live struct {
	*amqp.Connection
	q        *Queue
	publish  *amqp.Channel    // with confirmations
	returned chan amqp.Return // messages that could not be routed
	read     *amqp.Channel    // of reports, receipts and dropped jobs
	gone     chan struct{}    // closed with the connection
	began    time.Time

	mu       sync.Mutex
	dead     bool              // ignore its later messages
	receipts map[string]uint64 // tags of receipts, by marker
	dropped  map[string]drop   // by marker
	barriers map[string]chan struct{}
}

// close ends the connection without waiting for the other side.
func (l *live) close() {
	l.mu.Lock()
	l.dead = true
	l.mu.Unlock()
	l.CloseDeadline(time.Now().Add(time.Second))
}
