package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/queue"
)

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

// cancel reserves a job like a worker, reports that it was canceled, and deletes it. If a worker has the job
// already, cancel notifies the worker.
func (q *Queue) cancel(l *link, e bridge.Entry) error {
	id, err := number(e.ID)
	if err != nil {
		return nil // there is no such job
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
			return nil // the job is over
		}
		if l.check(err) != nil {
			return err
		}
		if stats["state"] == "reserved" {
			return q.notifyWorker(l, e.Marker)
		}
	}
}

// takeOut ends a job that we have reserved.
func (q *Queue) takeOut(l *link, id uint64, marker string) error {
	now := time.Now()
	r := mq.Report{
		Marker: marker, ID: text(id), State: string(queue.Cancelled), Ended: now, Error: "cancelled before it started",
	}
	if _, err := beanstalk.NewTube(l.Conn, q.options.tube("reports")).Put(r.Encode(reportLimit), 0, 0,
		q.options.TTR); l.check(err) != nil {
		l.close() // so that the job goes back to its place
		return err
	}
	return l.check(l.Delete(id))
}
