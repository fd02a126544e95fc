package beanstalkd

import (
	"context"
	"errors"
	"fmt"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
)

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

// remove deletes a job that is over but still exists, because its worker ended between the report and the
// deletion. While a worker has the job, the worker deletes it.
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
