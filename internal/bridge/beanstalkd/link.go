package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
)

// link is a connection. Several goroutines may use it at the same time: answers come in the
// order of the commands.
type link struct {
	*beanstalk.Conn
	net    net.Conn
	broken atomic.Bool
	// known are the markers of jobs by their numbers, as read over this connection. Over a
	// restart a server without a binlog gives numbers again.
	known sync.Map
}

// dial connects.
func dial(ctx context.Context, address string) (*link, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 10 * time.Second}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("beanstalkd at %s cannot be reached (%w): is it running, and is that its address?", address, bridge.Cause(err))
	}
	return &link{Conn: beanstalk.NewConn(c), net: c}, nil
}

func (l *link) close() {
	l.broken.Store(true)
	l.net.Close()
}

// within closes the connection when ctx ends: what was asked cannot be taken back. The
// function that it returns ends that.
func (l *link) within(ctx context.Context) (done func()) {
	stop := context.AfterFunc(ctx, l.close)
	return func() { stop() }
}

// check notes an error after which the connection is of no use: any that is not an answer.
func (l *link) check(err error) error {
	if err != nil && !answered(err) {
		l.close()
	}
	return err
}

// answered reports whether an error is what the server answered.
func answered(err error) bool {
	for _, known := range []error{
		beanstalk.ErrBuried, beanstalk.ErrDeadline, beanstalk.ErrDraining, beanstalk.ErrInternal,
		beanstalk.ErrJobTooBig, beanstalk.ErrNotFound, beanstalk.ErrNotIgnored, beanstalk.ErrOOM, beanstalk.ErrTimeout, beanstalk.ErrUnknown,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// ask is the connection for questions.
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
	// What another process has read, or we before a restart, is to be read again.
	reports := beanstalk.NewTube(l.Conn, q.options.tube("reports"))
	if _, err := reports.Kick(1 << 30); l.check(err) != nil {
		return nil, fmt.Errorf("read reports again: %w", strange(q.options.Address, err))
	}
	if err := q.leftNotices(l); err != nil {
		return nil, fmt.Errorf("list tubes: %w", err)
	}
	q.asking = l
	q.index.reset()
	return l, nil
}
