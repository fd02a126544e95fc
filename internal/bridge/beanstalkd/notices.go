package beanstalkd

import (
	"errors"
	"strings"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// cancelTube returns the tube in which the worker of a task hears that the task is canceled.
func (o *Options) cancelTube(marker string) string { return o.tube("cancel." + marker) }

// notifyWorker leaves a message for the worker of a task.
func (q *Queue) notifyWorker(l *link, marker string) error {
	q.mu.Lock()
	told := q.notice[marker]
	q.notice[marker] = true
	q.mu.Unlock()
	if told {
		return nil
	}
	_, err := beanstalk.NewTube(l.Conn, q.options.cancelTube(marker)).Put([]byte(mq.ErrCancelled.Error()), 0, 0,
		q.options.TTR)
	return l.check(err)
}

// withdraw removes messages that a worker has not read.
func (q *Queue) withdraw(l *link, marker string) error {
	q.mu.Lock()
	told := q.notice[marker] || q.left[marker]
	delete(q.notice, marker)
	delete(q.left, marker)
	q.mu.Unlock()
	if !told {
		return nil
	}
	q.drains.Lock()
	defer q.drains.Unlock()
	for {
		id, _, err := beanstalk.NewTubeSet(l.Conn, q.options.cancelTube(marker)).Reserve(0)
		if errors.Is(err, beanstalk.ErrTimeout) {
			return nil
		}
		if l.check(err) != nil {
			return err
		}
		if err := l.check(l.Delete(id)); err != nil {
			return err
		}
	}
}

// leftNotices records the markers for which an earlier process may have left messages. A worker that listens
// to a tube also creates the tube, so there may be no message.
func (q *Queue) leftNotices(l *link) error {
	tubes, err := l.ListTubes()
	if l.check(err) != nil {
		return err
	}
	for _, name := range tubes {
		if marker, ok := strings.CutPrefix(name, q.options.cancelTube("")); ok {
			q.left[marker] = true
		}
	}
	return nil
}
