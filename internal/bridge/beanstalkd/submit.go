package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/queue"
)

// Submit implements bridge.QS.
func (q *Queue) Submit(ctx context.Context, all []bridge.Submission) ([]bridge.Receipt, error) {
	q.order.Lock()
	defer q.order.Unlock()
	s, err := q.open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.within(ctx)()
	receipts := make([]bridge.Receipt, len(all))
	for i := range all {
		if s.broken.Load() {
			receipts[i].Err = errors.New("not sent: the connection to beanstalkd was lost")
			continue
		}
		receipts[i] = q.put(s, &all[i])
	}
	if s.puts >= marked && !s.broken.Load() {
		if err := q.mark(s); err != nil {
			q.options.Logger.Warn("no mark", "error", err)
		}
	}
	return receipts, nil
}

// put puts one submission.
func (q *Queue) put(s *session, one *bridge.Submission) bridge.Receipt {
	if one.Priority < 0 || one.Priority > math.MaxUint32 {
		return bridge.Receipt{
			Err: bridge.Explain(queue.ErrInvalid, "priority %d: beanstalkd has priorities from 0 to %d", one.Priority,
				uint32(math.MaxUint32)),
		}
	}
	text, err := mq.NewTask(one).Encode()
	if err != nil {
		return bridge.Receipt{Err: err}
	}
	before := s.last
	id, err := s.work.Put(text, uint32(one.Priority), 0, q.options.TTR)
	s.puts++
	switch err = s.check(err); {
	case err == nil:
		s.last = id
		return bridge.Receipt{ID: strconv.FormatUint(id, 10)}
	case errors.Is(err, beanstalk.ErrJobTooBig):
		return bridge.Receipt{
			Err: bridge.Explain(queue.ErrInvalid, "the job is too big for beanstalkd: %d bytes; start beanstalkd with a "+
				"larger -z, or make the script and the environment smaller", len(text)),
		}
	case errors.Is(err, beanstalk.ErrDraining), errors.Is(err, beanstalk.ErrOOM):
		return bridge.Receipt{Err: fmt.Errorf("beanstalkd takes no jobs now: %w", err)}
	}
	q.index.floors.Store(one.Marker, before)
	return bridge.Receipt{Err: fmt.Errorf("%w: %w", bridge.ErrUnsure, err)}
}
