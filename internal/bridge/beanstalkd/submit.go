package beanstalkd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// session is the connection over which work is put. As long as anything that was sent over
// it can arrive, it watches a tube, and is counted there.
type session struct {
	*link
	work *beanstalk.Tube
	last uint64 // the largest number that it was given
	puts int    // since its last mark
}

// mark is a job that says when its number was given, by the bridge's clock: whatever was sent
// later has a larger one.
type mark struct {
	Mark time.Time `json:"fairlead_mark"`
}

const (
	// marked is after how many puts there is another mark, so that no search is long.
	marked = 10_000
	// forever is the longest delay that beanstalkd takes.
	forever = math.MaxUint32 * time.Second
)

// open is the session, a new one if there is none. The caller holds the order.
func (q *Queue) open(ctx context.Context) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if q.session != nil && !q.session.broken.Load() {
		return q.session, nil
	}
	q.begin()
	l, err := dial(ctx, q.options.Address)
	if err != nil {
		return nil, err
	}
	defer l.within(ctx)()
	// The answer is waited for: from here on it is counted.
	_, _, err = beanstalk.NewTubeSet(l.Conn, q.options.tube("session")).Reserve(0)
	if err = l.check(err); !errors.Is(err, beanstalk.ErrTimeout) {
		l.close()
		return nil, fmt.Errorf("watch the tube of the session: %w", strange(q.options.Address, err))
	}
	s := &session{link: l, work: beanstalk.NewTube(l.Conn, q.options.Tube)}
	if err := q.mark(s); err != nil {
		return nil, err
	}
	q.session = s
	return s, nil
}

// mark puts a mark, and removes one that is a week old if there are others.
func (q *Queue) mark(s *session) error {
	text, err := json.Marshal(mark{time.Now()})
	if err != nil {
		return err
	}
	tube := beanstalk.NewTube(s.Conn, q.options.tube("marks"))
	if s.last, err = tube.Put(text, 0, forever, q.options.TTR); s.check(err) != nil {
		return fmt.Errorf("mark the session: %w", err)
	}
	s.puts = 0
	oldest, _, err := tube.PeekDelayed()
	if s.check(err) != nil || oldest == s.last {
		return nil
	}
	stats, err := s.StatsJob(oldest)
	if age, _ := strconv.Atoi(stats["age"]); s.check(err) == nil && age > 7*24*3600 {
		s.check(s.Delete(oldest))
	}
	return nil
}

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
			receipts[i].Err = errors.New("not sent: the connection to beanstalkd was lost before")
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

// put puts one.
func (q *Queue) put(s *session, one *bridge.Submission) bridge.Receipt {
	if one.Priority < 0 || one.Priority > math.MaxUint32 {
		return bridge.Receipt{Err: bridge.Explain(fairlead.ErrInvalid, "priority %d: beanstalkd takes those from 0 to %d", one.Priority, uint32(math.MaxUint32))}
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
		return bridge.Receipt{Err: bridge.Explain(fairlead.ErrInvalid, "the job is too big for beanstalkd: %d bytes; start beanstalkd with a larger -z, or put less into the script and the environment", len(text))}
	case errors.Is(err, beanstalk.ErrDraining), errors.Is(err, beanstalk.ErrOOM):
		return bridge.Receipt{Err: fmt.Errorf("beanstalkd takes nothing now: %w", err)}
	}
	q.index.floors.Store(one.Marker, before)
	return bridge.Receipt{Err: fmt.Errorf("%w: %w", bridge.ErrUnsure, err)}
}
