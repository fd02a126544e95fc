// Package beanstalkd is the adapter of a bridge to beanstalkd, and a worker that runs the tasks that the
// bridge puts there.
//
// Work is in one tube, in which small priorities are served first. A worker reports in a second tube,
// NAME.reports, that a task has started and how it ended, and then deletes the task. The bridge buries the
// reports that it has read, and deletes them when it has saved them. Until then, another process can find
// them again.
//
// The guarantees are based on the following facts. beanstalkd knows no markers, but its numbers rise. If the answer to
// a put was lost, the bridge looks for the marker among the numbers that the job can have. These are above a number
// that was given before, and below a number that is given now. The job cannot arrive later, because the bridge knows
// that the connection that sent the job is closed: an open connection watches NAME.session, and the server counts the
// connections that watch a tube. If the job is not found, it has never arrived or is over. A worker reports before it
// deletes, so the bridge reads the reports after the numbers.
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

// Options says where the queue is.
type Options struct {
	Address string // host:port
	Tube    string // tube for work; the other names begin with its name
	// TTR is how long beanstalkd waits for a worker to touch its task before it gives the task to another
	// worker; default 1m.
	TTR    time.Duration
	Logger *slog.Logger // default: discards
	// Away records times in which beanstalkd does not answer. Default: one that writes to the Logger.
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
	begin   func() // begins to listen, once

	mu     sync.Mutex      // guards the fields below
	asking *link           // for questions
	notice map[string]bool // markers whose workers were notified of a cancellation
	left   map[string]bool // markers whose workers may have messages from an earlier process

	drains  sync.Mutex // held while reading a tube: a connection can wait for one tube at a time
	order   sync.Mutex // held while submitting
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
		return 0, fmt.Errorf("%q is not the number of a job of beanstalkd: %w", id, err)
	}
	return n, nil
}

func text(id uint64) string { return strconv.FormatUint(id, 10) }

// session is the connection that puts work. It watches a tube, and the server counts it there as long as
// messages sent over it can still arrive.
type session struct {
	*link
	work *beanstalk.Tube
	last uint64 // the largest number that the server gave it
	puts int    // since its last mark
}
