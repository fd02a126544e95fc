package rabbitmq

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// Open returns an adapter. It does not connect; the adapter connects on the first call except Describe, so
// RabbitMQ need not answer yet.
func Open(o Options) *Queue {
	o.defaults()
	ctx, end := context.WithCancel(context.Background())
	q := &Queue{options: o, reports: mq.NewReports(), end: end, cancelled: map[string]bool{}}
	q.begin = sync.OnceFunc(func() { q.ended.Go(func() { q.supervise(ctx) }) })
	return q
}

// recycled is how long a connection is used: by default, RabbitMQ closes channels that leave a message
// unacknowledged for half an hour, and the bridge keeps messages for longer.
const recycled = 20 * time.Minute

// supervise keeps a connection open, so that the bridge hears reports as they come.
func (q *Queue) supervise(ctx context.Context) {
	try := bridge.NewRetry(q.options.Away, 100*time.Millisecond, 5*time.Second)
	for ctx.Err() == nil {
		l, err := q.up(ctx)
		if err != nil {
			try.Again(ctx, err)
			continue
		}
		try.Answered()
		q.reports.Notify() // the state may have changed meanwhile
		q.watch(ctx, l)
	}
}

// examined is how often the bridge checks whether its queue still exists.
var examined = 10 * time.Second

// watch returns when a connection has ended. It ends a connection that is old, or whose queue somebody
// deleted; the next connection makes the queue again.
func (q *Queue) watch(ctx context.Context, l *live) {
	recycle := time.After(recycled)
	for old := false; !old; {
		select {
		case <-l.gone:
			return
		case <-ctx.Done():
			return
		case <-recycle:
			old = true
		case <-time.After(examined):
			there, err := isThere(l.Connection, &q.options)
			if old = !there && err == nil; old {
				q.options.Logger.Warn("somebody deleted the queue of jobs; the bridge makes it again, and resubmits the "+
					"jobs that waited in it", "queue", q.options.Queue)
			}
		}
	}
	q.order.Lock()
	defer q.order.Unlock()
	l.close()
}
