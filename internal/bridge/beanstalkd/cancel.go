package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// cancelTube is where the worker that runs a task hears that it shall not.
func (o *Options) cancelTube(marker string) string { return o.tube("cancel." + marker) }

// Cancel implements bridge.QS.
func (q *Queue) Cancel(ctx context.Context, all []bridge.Entry) error {
	l, err := q.ask(ctx)
	if err != nil {
		return err
	}
	defer l.within(ctx)()
	if all, err = q.named(ctx, l, all); err != nil {
		return err
	}
	for _, e := range all {
		if e.ID == "" || q.reports.End(e.Marker) != nil {
			continue
		}
		if err := q.cancel(l, e); err != nil {
			return fmt.Errorf("cancel job %s: %w", e.ID, err)
		}
	}
	return nil
}

// cancel takes a job as a worker would, says that it was cancelled, and deletes it. Whoever
// has it already is told.
func (q *Queue) cancel(l *link, e bridge.Entry) error {
	id, err := number(e.ID)
	if err != nil {
		return nil // it cannot be there
	}
	if marker, err := q.identity(l, id); err != nil || marker != e.Marker {
		return err
	}
	for {
		_, err = l.ReserveJob(id)
		if err == nil {
			return q.takeOut(l, id, e.Marker)
		}
		if !errors.Is(err, beanstalk.ErrNotFound) {
			return l.check(err)
		}
		stats, err := l.StatsJob(id)
		if errors.Is(err, beanstalk.ErrNotFound) {
			return nil // it is over
		}
		if l.check(err) != nil {
			return err
		}
		if stats["state"] == "reserved" {
			return q.tellWorker(l, e.Marker)
		}
	}
}

// takeOut ends a job that we have reserved.
func (q *Queue) takeOut(l *link, id uint64, marker string) error {
	now := time.Now()
	r := mq.Report{Marker: marker, ID: text(id), State: string(fairlead.Cancelled), Ended: now, Error: "cancelled before it started"}
	if _, err := beanstalk.NewTube(l.Conn, q.options.tube("reports")).Put(r.Encode(reportLimit), 0, 0, q.options.TTR); l.check(err) != nil {
		l.close() // so that the job is in its place again
		return err
	}
	return l.check(l.Delete(id))
}

// tellWorker leaves a message for whoever runs a task.
func (q *Queue) tellWorker(l *link, marker string) error {
	q.mu.Lock()
	told := q.notice[marker]
	q.notice[marker] = true
	q.mu.Unlock()
	if told {
		return nil
	}
	_, err := beanstalk.NewTube(l.Conn, q.options.cancelTube(marker)).Put([]byte(mq.ErrCancelled.Error()), 0, 0, q.options.TTR)
	return l.check(err)
}

// withdraw removes the messages that a worker has not read.
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

// leftNotices are the markers for which an earlier process may have left messages: the tube is
// there also if a worker listens to it.
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
