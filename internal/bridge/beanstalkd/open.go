package beanstalkd

import (
	"context"
	"sync"

	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// Open returns an adapter. It does not connect; the adapter connects on the first call except Describe, so
// the server need not answer yet.
func Open(o Options) *Queue {
	o.defaults()
	ctx, end := context.WithCancel(context.Background())
	q := &Queue{
		options: o, reports: mq.NewReports(), end: end, notice: map[string]bool{}, left: map[string]bool{},
		index: index{ids: map[string]uint64{}},
	}
	q.begin = sync.OnceFunc(func() { q.ended.Go(func() { q.listen(ctx) }) })
	return q
}
