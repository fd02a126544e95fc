// Package rabbitmq is the adapter of a bridge to RabbitMQ, and a worker that runs what the
// bridge puts there.
//
// Work is in one durable queue with priorities, in which large ones are served first. It is
// published, persistent and confirmed, to an exchange that copies it to NAME.receipts, which
// only the bridge reads. Whoever takes a task tells in NAME.reports that it has started and
// how it ended, and acknowledges it then. Reports are acknowledged when the bridge has written
// down what they say.
//
// What is guaranteed, and why. A publication whose confirmation was lost has arrived if there
// is a receipt: a message is handed to both queues at once. It cannot arrive later, as
// NAME.session is a queue that only one connection can have, and that is free only when the
// one that published has ended.
//
// A crash of the broker may leave a message that was not confirmed in one of the two queues
// alone. So nobody takes any work after a restart until the bridge has compared them: the
// exchange NAME.open does not survive a restart, workers wait for it, and the bridge declares
// it when it has written the receipts that are missing and removed those that are too many.
// By the same look it removes tasks whose end was reported.
package rabbitmq

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
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
	Away *bridge.Outage
}

func (o *Options) defaults() {
	o.Priorities = cmp.Or(o.Priorities, 10)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Away == nil {
		o.Away = bridge.NewOutage(o.Logger, "RabbitMQ does not answer", "RabbitMQ answers again").Refuses("RabbitMQ answers, and refuses")
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
	mu        sync.Mutex // of those that follow
	live      *live
	// exam has the markers that are in the queue or were, as far as they concern us: set if
	// the broker was restarted in our time.
	exam map[string]bool
	// cancelled are the markers whose workers are to be told when they start.
	cancelled map[string]bool
}

var _ bridge.QS = (*Queue)(nil)

// Open returns an adapter. That nobody answers yet is no error. It connects when it is first asked
// for more than what the queue is.
func Open(o Options) *Queue {
	o.defaults()
	ctx, end := context.WithCancel(context.Background())
	q := &Queue{options: o, reports: mq.NewReports(), end: end, cancelled: map[string]bool{}}
	q.begin = sync.OnceFunc(func() { q.ended.Go(func() { q.supervise(ctx) }) })
	return q
}

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

// recycled is after what time a connection is made anew: RabbitMQ closes those that do not
// acknowledge a message for half an hour, if it is not told otherwise.
const recycled = 20 * time.Minute

// supervise keeps a connection, so that reports are heard as they come.
func (q *Queue) supervise(ctx context.Context) {
	again := bridge.Backoff{First: 100 * time.Millisecond, Most: 5 * time.Second}
	for ctx.Err() == nil {
		l, err := q.up(ctx)
		if err != nil {
			if ctx.Err() == nil {
				q.options.Away.Fail(err)
			}
			pause(ctx, again.Next())
			continue
		}
		again.Reset()
		q.options.Away.Answer()
		q.reports.Tell() // what there is may be another now
		select {
		case <-l.gone:
		case <-ctx.Done():
		case <-time.After(recycled):
			q.order.Lock()
			l.close()
			q.order.Unlock()
		}
	}
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
