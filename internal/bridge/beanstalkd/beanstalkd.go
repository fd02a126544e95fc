// Package beanstalkd is the adapter of a bridge to beanstalkd, and a worker that runs what the
// bridge puts there.
//
// Work is in one tube, in which small priorities are served first. Whoever takes it tells in a
// second tube, NAME.reports, that it has started and how it ended, and deletes it then. Reports
// that were read are buried, and deleted when the bridge has written down what they say: so
// another process finds them again.
//
// What is guaranteed, and why. beanstalkd knows no marker, but its numbers rise. A put whose
// answer was lost is looked for by its marker among the numbers that it can have: above one
// that was given before, and below one that is given now. Nothing can arrive later, as the
// connection over which it would come is known to be closed: while it is open it watches
// NAME.session, and the server counts who watches a tube. What is not found has never
// arrived, or is over: the worker reports before it deletes, so the reports are read
// after the numbers.
package beanstalkd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/wait"
)

// Options say where the queue is.
type Options struct {
	Address string // host:port
	Tube    string // for work; the others are called after it
	// TTR is after what time a task that its worker does not touch is given to another one;
	// default 1m.
	TTR    time.Duration
	Logger *slog.Logger // default: discards
	// Away is told when beanstalkd does not answer, and when it does again. Default: one that
	// writes to the Logger.
	Away *wait.Outage
}

func (o *Options) defaults() {
	o.TTR = cmp.Or(o.TTR, time.Minute)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Away == nil {
		o.Away = wait.NewOutage(o.Logger, "beanstalkd does not answer", "beanstalkd answers again")
	}
}

// Queue is a bridge.QS.
type Queue struct {
	options Options
	reports *mq.Reports
	end     context.CancelFunc
	ended   sync.WaitGroup
	begin   func() // to listen, once

	mu     sync.Mutex      // guards the fields below
	asking *link           // for questions
	notice map[string]bool // markers whose cancellation a worker was told
	left   map[string]bool // markers that an earlier process may have told a worker

	drains  sync.Mutex // a connection waits for one tube at a time
	order   sync.Mutex // of submissions; held while one is under way
	session *session
	index   index
}

var _ bridge.QS = (*Queue)(nil)

func (o *Options) tube(part string) string { return o.Tube + "." + part }

// Changed implements bridge.QS.
func (q *Queue) Changed() <-chan struct{} {
	q.begin()
	return q.reports.Changed()
}

// Close implements bridge.QS.
func (q *Queue) Close() error {
	q.end()
	q.begin() // so that nothing begins later
	q.order.Lock()
	if q.session != nil {
		q.session.close()
	}
	q.order.Unlock()
	q.mu.Lock()
	if q.asking != nil {
		q.asking.close()
	}
	q.mu.Unlock()
	q.ended.Wait()
	return nil
}

func number(id string) (uint64, error) {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number of a job of beanstalkd: %w", id, err)
	}
	return n, nil
}

func text(id uint64) string { return strconv.FormatUint(id, 10) }

// session is the connection over which work is put. As long as anything that was sent over
// it can arrive, it watches a tube, and is counted there.
type session struct {
	*link
	work *beanstalk.Tube
	last uint64 // the largest number that it was given
	puts int    // since its last mark
}
