// Package rabbitmq is the adapter of a bridge to RabbitMQ, and a worker that runs the tasks that the
// bridge puts there.
//
// Work is in one durable queue with priorities; large priorities are served first. It is
// published, persistent and confirmed, to an exchange that copies it to NAME.receipts, which
// only the bridge reads. Whoever takes a task tells in NAME.reports that it has started and
// how it ended, and acknowledges it then. Reports are acknowledged when the bridge has written
// down what they say.
//
// The guarantees, and why they hold. A publication whose confirmation was lost has arrived if there
// is a receipt: a message is handed to both queues at once. It cannot arrive later, as
// NAME.session is a queue that only one connection can have, and that is free only when the
// one that published has ended.
//
// A crash of the broker may leave a message that was not confirmed in one of the two queues
// alone. So nobody takes any work after a restart until the bridge has compared them: the
// exchange NAME.open does not survive a restart, workers wait for it, and the bridge declares
// it when it has written the missing receipts and removed superfluous ones.
// By the same look it removes tasks whose end was reported.
//
// RabbitMQ drops jobs where somebody gave the queue a limit (a policy with message-ttl or max-length), or a consumer
// rejects them. It hands them to NAME.dropped then, which tells the bridge. A queue that somebody deleted is missed
// within seconds, made again, and compared with the receipts as after a restart.
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

// Options say where the queue is.
type Options struct {
	URL   string // amqp://user:password@host:port/vhost
	Queue string // for work; what else there is is called after it
	// Priorities is the largest priority, at most 255; default 10. RabbitMQ recommends few.
	Priorities int
	Logger     *slog.Logger // default: discards
	// Away is told when RabbitMQ does not answer, and when it does again. Default: one that
	// writes to the Logger.
	Away *wait.Outage
}

func (o *Options) defaults() {
	o.Priorities = cmp.Or(o.Priorities, 10)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Away == nil {
		o.Away = wait.NewOutage(o.Logger, "RabbitMQ does not answer", "RabbitMQ answers again").Refuses(
			"RabbitMQ answers, and refuses")
	}
}

func (o *Options) name(part string) string { return o.Queue + "." + part }

// Queue is a bridge.QS.
type Queue struct {
	options Options
	reports *mq.Reports
	end     context.CancelFunc
	ended   sync.WaitGroup
	begin   func() // to keep a connection, once

	order sync.Mutex // held while something is published, or a connection is made
	// busySince is when another connection was first found to have the session; zero if none has.
	busySince time.Time  // under order
	mu        sync.Mutex // guards the fields below
	live      *live
	// exam has the markers that are in the queue or were, as far as they concern us: set if
	// the broker was restarted in our time.
	exam map[string]bool
	// cancelled are the markers whose workers are to be told when they start.
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

// live is a connection that has the session: whatever earlier ones have sent has arrived, or
// never will.
type live struct {
	*amqp.Connection
	q        *Queue
	publish  *amqp.Channel    // with confirmations
	returned chan amqp.Return // what could not be routed
	read     *amqp.Channel    // of reports, receipts and dropped jobs
	gone     chan struct{}    // closed when the connection is
	began    time.Time

	mu       sync.Mutex
	dead     bool              // later news of it do not count
	receipts map[string]uint64 // markers, and the tags of their receipts
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
