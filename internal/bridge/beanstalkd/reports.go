package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// listen reads reports as they come, until ctx ends.
func (q *Queue) listen(ctx context.Context) {
	again := bridge.Backoff{First: 100 * time.Millisecond, Most: 5 * time.Second}
	for ctx.Err() == nil {
		err := q.listenOnce(ctx, again.Reset)
		if ctx.Err() == nil {
			q.options.Away.Fail(fmt.Errorf("reports cannot be read: %w", err))
			pause(ctx, again.Next())
		}
		q.reports.Tell() // what there is may be another now
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

// listenOnce does so over one connection, and calls works whenever there was an answer.
func (q *Queue) listenOnce(ctx context.Context, works func()) error {
	l, err := dial(ctx, q.options.Address)
	if err != nil {
		return err
	}
	defer l.close()
	defer l.within(ctx)()
	within := time.Duration(0) // so that it is soon known whether this is a beanstalkd
	for {
		if _, err := q.next(l, within); err != nil {
			return err
		}
		works()
		q.options.Away.Answer()
		within = 2 * time.Second
		// Workers that are not ours may say nothing when they start: so it is asked for.
		q.reports.Tell()
	}
}

// next reads a report if there is one within a time. It is buried after it was heard.
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
		q.options.Logger.Warn("a message in the tube of reports is none", "job", id, "error", err)
	} else {
		keep = q.reports.Hear(report, id)
	}
	if keep {
		err = l.Bury(id, 0)
	} else {
		err = l.Delete(id)
	}
	if errors.Is(err, beanstalk.ErrNotFound) { // it took too long, and is read again
		err = nil
	}
	return true, l.check(err)
}

// drain returns when all reports have been heard that are there when it is called.
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
		if errors.Is(err, beanstalk.ErrNotFound) || err == nil && stats["current-jobs-reserved"] == "0" && stats["current-jobs-ready"] == "0" {
			return nil
		}
		if l.check(err) != nil {
			return fmt.Errorf("count reports: %w", err)
		}
		pause(ctx, 5*time.Millisecond) // the listener has one in its hands
	}
	return ctx.Err()
}

// Forget implements bridge.QS.
func (q *Queue) Forget(ctx context.Context, all []bridge.Entry) error {
	l, err := q.ask(ctx)
	if err != nil {
		return err
	}
	defer l.within(ctx)()
	return parallel(len(all), func(i int) error {
		q.index.floors.Delete(all[i].Marker)
		for _, id := range q.reports.Forget(all[i].Marker) {
			if err := l.Delete(id); !errors.Is(err, beanstalk.ErrNotFound) && l.check(err) != nil {
				return fmt.Errorf("delete a report: %w", err)
			}
		}
		if err := q.withdraw(l, all[i].Marker); err != nil {
			return err
		}
		return q.remove(l, all[i])
	})
}

// remove deletes a job that is over and there still: its worker ended between the report and
// the deletion. While a worker has it, that is the worker's part.
func (q *Queue) remove(l *link, e bridge.Entry) error {
	id, err := number(e.ID)
	if e.ID == "" || err != nil {
		return nil
	}
	marker, err := q.identity(l, id)
	l.known.Delete(id)
	if err != nil || marker != e.Marker {
		return err
	}
	if err := l.Delete(id); !errors.Is(err, beanstalk.ErrNotFound) {
		return l.check(err)
	}
	return nil
}
