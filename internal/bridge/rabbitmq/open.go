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
