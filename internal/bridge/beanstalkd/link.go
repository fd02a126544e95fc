package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
)

// link is a connection. Several goroutines may use it at the same time, because answers come in the order of
// the commands.
type link struct {
	*beanstalk.Conn
	net    net.Conn
	broken atomic.Bool
	// known holds the markers of jobs by their numbers, as read over this connection. A server without a
	// binlog reuses numbers after a restart.
	known sync.Map
}

// dial connects to beanstalkd.
func dial(ctx context.Context, address string) (*link, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 10 * time.Second}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("beanstalkd at %s cannot be reached (%w): is it running, and is that its address?", address,
			bridge.Cause(err))
	}
	return &link{Conn: beanstalk.NewConn(c), net: c}, nil
}

func (l *link) close() {
	l.broken.Store(true)
	l.net.Close()
}

// within closes the connection when ctx ends, because a command that was sent cannot be withdrawn. The
// function that it returns ends the watch.
func (l *link) within(ctx context.Context) (done func()) {
	stop := context.AfterFunc(ctx, l.close)
	return func() { stop() }
}

// check closes the connection after an error that is not an answer of the server, because it is useless then.
func (l *link) check(err error) error {
	if err != nil && !answered(err) {
		l.close()
	}
	return err
}

// answered reports whether an error is an answer of the server.
func answered(err error) bool {
	for _, known := range []error{
		beanstalk.ErrBuried, beanstalk.ErrDeadline, beanstalk.ErrDraining, beanstalk.ErrInternal,
		beanstalk.ErrJobTooBig, beanstalk.ErrNotFound, beanstalk.ErrNotIgnored, beanstalk.ErrOOM, beanstalk.ErrTimeout,
		beanstalk.ErrUnknown,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// strange explains an error after which a connection is useless: the connection was lost, or the server is no
// beanstalkd.
func strange(address string, err error) error {
	var outside net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), answered(err):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.As(err, &outside):
		return bridge.Explain(err, "the connection to beanstalkd at %s was lost", address)
	}
	return bridge.Explain(err, "the program at %s does not answer like beanstalkd: is this its port? It is 11300, unless "+
		"beanstalkd was started with -p", address)
}
