package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// ask returns the connection for questions, and makes it if necessary.
func (q *Queue) ask(ctx context.Context) (*link, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.begin()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asking != nil && !q.asking.broken.Load() {
		return q.asking, nil
	}
	l, err := dial(ctx, q.options.Address)
	if err != nil {
		return nil, err
	}
	defer l.within(ctx)()
	// Read again the reports that another process has read, or this process before a restart.
	reports := beanstalk.NewTube(l.Conn, q.options.tube("reports"))
	if _, err := reports.Kick(1 << 30); l.check(err) != nil {
		l.close()
		return nil, fmt.Errorf("read reports again: %w", strange(q.options.Address, err))
	}
	if err := q.leftNotices(l); err != nil {
		l.close()
		return nil, fmt.Errorf("list tubes: %w", err)
	}
	q.asking = l
	q.index.reset()
	return l, nil
}

// identity reads the marker of a job. It returns "" if no job has that number, or if the job is not ours.
func (q *Queue) identity(l *link, id uint64) (string, error) {
	if marker, ok := l.known.Load(id); ok {
		return marker.(string), nil
	}
	body, err := l.Peek(id)
	if errors.Is(err, beanstalk.ErrNotFound) {
		return "", nil
	}
	if l.check(err) != nil {
		return "", fmt.Errorf("look at job %d: %w", id, err)
	}
	task, err := mq.ReadTask(body)
	if err != nil {
		return "", nil
	}
	l.known.Store(id, task.Marker)
	return task.Marker, nil
}

// parallel calls f with the numbers in [0, n). It makes many calls at once, so that they do not wait one
// after the other for a round trip to the server.
func parallel(n int, f func(i int) error) error {
	const width = 64
	var wg sync.WaitGroup
	errs := make([]error, min(width, n))
	for k := range errs {
		wg.Go(func() {
			for i := k; i < n && errs[k] == nil; i += width {
				errs[k] = f(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
