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
)

// mark is a job that records, by the bridge's clock, when its number was given. Jobs that were sent later
// have larger numbers.
type mark struct {
	Mark time.Time `json:"fairlead_mark"`
}

const (
	// marked is the number of puts after which the session puts another mark, so that no search is long.
	marked = 10_000
	// forever is the longest delay that beanstalkd takes.
	forever = math.MaxUint32 * time.Second
)

// open returns the session, and makes a new one if necessary. The caller holds order.
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
	// Wait for the answer: from then on the server counts this connection.
	_, _, err = beanstalk.NewTubeSet(l.Conn, q.options.tube("session")).Reserve(0)
	if err = l.check(err); !errors.Is(err, beanstalk.ErrTimeout) {
		l.close()
		return nil, fmt.Errorf("watch the tube of the session: %w", strange(q.options.Address, err))
	}
	s := &session{link: l, work: beanstalk.NewTube(l.Conn, q.options.Tube)}
	if err := q.mark(s); err != nil {
		l.close() // otherwise it would still count as the session
		return nil, err
	}
	q.session = s
	return s, nil
}

// mark puts a mark, and removes the oldest one if it is a week old and there are others.
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

// errBusy says that an earlier connection of the bridge is not closed yet.
var errBusy = errors.New("an earlier connection of a bridge to this tube is still open: " +
	"jobs that it sent may still arrive")

// quiet makes sure that no message from earlier connections can still arrive, and returns a number that is
// larger than all numbers that they received.
func (q *Queue) quiet(ctx context.Context) (uint64, error) {
	q.order.Lock()
	defer q.order.Unlock()
	s, err := q.open(ctx)
	if err != nil {
		return 0, err
	}
	defer s.within(ctx)()
	stats, err := beanstalk.NewTube(s.Conn, q.options.tube("session")).Stats()
	if s.check(err) != nil {
		return 0, fmt.Errorf("ask for sessions: %w", err)
	}
	if n := stats["current-watching"]; n != "1" {
		return 0, errBusy
	}
	probe, err := beanstalk.NewTube(s.Conn, q.options.tube("probe")).Put([]byte("{}"), 0, forever, q.options.TTR)
	if s.check(err) != nil {
		return 0, fmt.Errorf("probe: %w", err)
	}
	s.last = probe
	return probe, s.check(s.Delete(probe))
}
