// Package queue is the bridge's adapter to a queue of Fairlead itself. It submits jobs to another server,
// into one pool with the policy fifo, where the priorities of jobs are the levels. It serves for comparison,
// and for owners of two clusters.
package queue

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/user"
	"sync"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/share"
)

// levels are the priorities that every server has, from the lowest on: level 0 is very_low.
var levels = []string{"very_low", "low", "normal", "high", "very_high"}

// Options describes the other queue.
type Options struct {
	Address string // of the server, as api.Dial takes it
	Trusted []int  // users as whom that server may run, besides root and the user of the bridge
	Pool    string // to which jobs are submitted
	// Levels are the names of the priorities there, the lowest first. Default: levels.
	Levels []string
	// Constraint is added to the constraint of each job.
	Constraint string
}

// Queue is an adapter.
type Queue struct {
	o      Options
	client *api.Client
	me     string

	mu sync.Mutex
	as map[string]*api.Client // clients that submit for other users, by user

	changed chan struct{}
	end     context.CancelFunc
	ended   sync.WaitGroup
}

var _ bridge.QS = (*Queue)(nil)

// Open returns an adapter. It does not wait for the other server.
func Open(o Options) (*Queue, error) {
	if o.Pool == "" {
		return nil, errors.New("the pool for the jobs on the other server is missing: set pool")
	}
	if err := share.CheckPath(o.Pool); err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	if _, err := cluster.ParseConstraint(o.Constraint); err != nil {
		return nil, fmt.Errorf("constraint: %w", err)
	}
	if len(o.Levels) == 0 {
		o.Levels = levels
	}
	client, err := api.Dial(o.Address, o.Trusted...)
	if err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	q := &Queue{
		o: o, client: client, me: me.Username, as: map[string]*api.Client{}, changed: make(chan struct{}, 1), end: cancel,
	}
	q.ended.Go(func() { q.watch(ctx) })
	return q, nil
}

// watch signals every event of the other server.
func (q *Queue) watch(ctx context.Context) {
	for ctx.Err() == nil {
		_ = q.client.Events(ctx, url.Values{}, func(api.Event) error { // it ends with the server
			wait.Wake(q.changed)
			return nil
		})
		wait.Wake(q.changed)
		wait.For(ctx, time.Second)
	}
}

// Changed implements bridge.QS, like the methods below.
func (q *Queue) Changed() <-chan struct{} { return q.changed }

// Close closes the connections.
func (q *Queue) Close() error {
	q.end()
	q.ended.Wait()
	q.client.Close()
	for _, c := range q.as {
		c.Close()
	}
	return nil
}

// explain adds the place of an error, and the next step if no server answers.
func (q *Queue) explain(err error) error {
	if errors.Is(err, api.ErrUnreachable) {
		return bridge.Explain(err, "the other server: %v: is it running, and is that its address?", err)
	}
	return bridge.Explain(err, "the other server at %s: %v", q.o.Address, err)
}
