package rabbitmq

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// Open returns an adapter. That nobody answers yet is no error. It connects when it is first asked
// for more than what the queue is.
func Open(o Options) *Queue {
	o.defaults()
	ctx, end := context.WithCancel(context.Background())
	q := &Queue{options: o, reports: mq.NewReports(), end: end, cancelled: map[string]bool{}}
	q.begin = sync.OnceFunc(func() { q.ended.Go(func() { q.supervise(ctx) }) })
	return q
}

// recycled is the time after which a connection is made anew: RabbitMQ closes connections that do not
// acknowledge a message for half an hour, if it is not told otherwise.
const recycled = 20 * time.Minute

// supervise keeps a connection, so that reports are heard as they come.
func (q *Queue) supervise(ctx context.Context) {
	try := bridge.NewRetry(q.options.Away, 100*time.Millisecond, 5*time.Second)
	for ctx.Err() == nil {
		l, err := q.up(ctx)
		if err != nil {
			try.Again(ctx, err)
			continue
		}
		try.Answered()
		q.reports.Notify() // what there is may be another now
		q.watch(ctx, l)
	}
}

// examined is how often the bridge looks whether its queue is still there.
var examined = 10 * time.Second

// watch waits until a connection has ended, or ends it: when it is old, and when somebody deleted the queue, which is
// made again with the next connection.
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
				q.options.Logger.Warn("somebody deleted the queue for work; the bridge makes it again, and submits the "+
					"jobs that waited in it once more", "queue", q.options.Queue)
			}
		}
	}
	q.order.Lock()
	defer q.order.Unlock()
	l.close()
}
