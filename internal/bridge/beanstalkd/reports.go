package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/wait"
)

// listen reads reports as they come, until ctx ends.
func (q *Queue) listen(ctx context.Context) {
	try := bridge.NewRetry(q.options.Away, 100*time.Millisecond, 5*time.Second)
	for ctx.Err() == nil {
		err := q.listenOnce(ctx, try)
		try.Again(ctx, fmt.Errorf("reports cannot be read: %w", err))
		q.reports.Notify() // the state may have changed meanwhile
	}
}

// listenOnce reads reports over one connection, until it breaks.
func (q *Queue) listenOnce(ctx context.Context, try *bridge.Retry) error {
	l, err := dial(ctx, q.options.Address)
	if err != nil {
		return err
	}
	defer l.close()
	defer l.within(ctx)()
	within := time.Duration(0) // the first answer shows soon whether the server is a beanstalkd
	for {
		if _, err := q.next(l, within); err != nil {
			return err
		}
		try.Answered()
		within = 2 * time.Second
		// Other programs may not report that they start a task, so let the bridge ask regularly.
		q.reports.Notify()
	}
}

// next reads a report if one comes within a time. It buries the report after hearing it, or deletes it if its
// marker is forgotten.
func (q *Queue) next(l *link, within time.Duration) (bool, error) {
	id, body, err := beanstalk.NewTubeSet(l.Conn, q.options.tube("reports")).Reserve(within)
	if errors.Is(err, beanstalk.ErrTimeout) || errors.Is(err, beanstalk.ErrDeadline) {
		return false, nil
	}
	if l.check(err) != nil {
		return false, fmt.Errorf("read reports: %w", strange(q.options.Address, err))
	}
	keep := true
	if report, err := mq.ReadReport(body); err != nil {
		q.options.Logger.Warn("a message in the tube of reports is not a report", "job", id, "error", err)
	} else {
		keep = q.reports.Hear(report, id)
	}
	if keep {
		err = l.Bury(id, 0)
	} else {
		err = l.Delete(id)
	}
	if errors.Is(err, beanstalk.ErrNotFound) { // it took too long; the report comes again
		err = nil
	}
	return true, l.check(err)
}

// drain returns when all reports that existed at the call have been heard.
func (q *Queue) drain(ctx context.Context, l *link) error {
	q.drains.Lock()
	defer q.drains.Unlock()
	for ctx.Err() == nil {
		more, err := q.next(l, 0)
		if err != nil {
			return err
		}
		if more {
			continue
		}
		stats, err := beanstalk.NewTube(l.Conn, q.options.tube("reports")).Stats()
		if errors.Is(err, beanstalk.ErrNotFound) ||
			err == nil && stats["current-jobs-reserved"] == "0" && stats["current-jobs-ready"] == "0" {
			return nil
		}
		if l.check(err) != nil {
			return fmt.Errorf("count reports: %w", err)
		}
		wait.For(ctx, 5*time.Millisecond) // the listener is reading one
	}
	return ctx.Err()
}

// reportLimit is the largest size of a report. By default beanstalkd takes 65,535 bytes.
const reportLimit = 60_000
