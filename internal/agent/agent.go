// Package agent offers a machine to a server and runs tasks on it as processes. It
// asks for work, starts what it gets, renews the leases of what runs, and reports how
// it ended. What cannot be renewed in time it kills, because the server then gives it
// to someone else. How a process is run is package process's part.
package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/process"
)

// Options describe an agent.
type Options struct {
	Client   *api.Client
	Name     string            // of the node
	Capacity map[string]int64  // what it offers
	GPUs     []gpu.Device      // those that Capacity counts, to be handed out
	Labels   map[string]string // what it is like
	Dir      string            // for the output of tasks, and scripts
	Version  string            // of the program
	Host     string            // name of the machine
	Logger   *slog.Logger      // default: discards
	Drain    time.Duration     // how long running tasks may go on when it is to stop; default 30s
	Env      map[string]string // added to the environment of every task

	// Whose jobs are run: an agent that runs as root runs each as its user, and those
	// of root only with AllowRoot. Another agent runs the jobs of its own user, and
	// those of others, as its own user, only with AnyUser.
	AllowRoot bool
	AnyUser   bool
	// Joined is called when the server let the agent in, each time.
	Joined func()
}

// Agent runs tasks.
type Agent struct {
	*Machine
	mu       sync.Mutex
	session  string
	ttl      time.Duration
	tasks    map[fairlead.Ref]*task
	ack      []fairlead.Ref
	finished []api.Finished
	release  []fairlead.Ref
	draining bool
	renewNow bool
	// drainTold is set when the server knows that we drain, by this session.
	drainTold bool

	news chan struct{} // has an element when there is something to report
	idle chan struct{} // has an element when a task has ended

	instance  string
	displaced chan struct{} // closed when another agent has taken the name
}

// task is an attempt that runs here.
type task struct {
	lease   api.Lease
	process *process.Process // nil while it is being started
	stop    *api.Stop        // what came before it was started
	halted  chan struct{}    // closed when stop is set
	until   time.Time        // end of the lease, by this machine's clock
	back    bool             // it is given back: what ended it was not meant for it, but for the agent
}

// Run runs an agent until ctx ends, and then until its tasks have ended or the time
// to drain is over.
func Run(ctx context.Context, o Options) error {
	a, err := open(o)
	if err != nil {
		return err
	}
	defer a.Close()
	// The connection is kept while draining.
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if err := a.join(ctx); err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { a.poll(work) })
	wg.Go(func() { a.report(work) })
	wg.Go(func() { a.renew(work) })
	wg.Go(func() { a.Clean(work) })
	select {
	case <-ctx.Done():
		a.drain(work)
	case <-a.displaced:
		err = fmt.Errorf("another agent has joined the server as node %q; run this one under a name of its own with --name", a.options.Name)
	}
	end()
	wg.Wait()
	return err
}

func open(o Options) (*Agent, error) {
	m, err := OpenMachine(o)
	if err != nil {
		return nil, err
	}
	return &Agent{
		Machine: m, tasks: map[fairlead.Ref]*task{},
		news: make(chan struct{}, 1), idle: make(chan struct{}, 1),
		instance: rand.Text(), displaced: make(chan struct{}),
	}, nil
}

// join offers the machine until the server takes it.
func (a *Agent) join(ctx context.Context) error {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		r, err := a.options.Client.Join(ctx, a.options.Name, a.offer())
		switch {
		case err == nil:
			a.joined(r)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fairlead.ErrForbidden), errors.Is(err, fairlead.ErrInvalid):
			return fmt.Errorf("join the server: %w", err)
		}
		a.log.Warn("the server does not let us in; trying again", "error", err, "in", pause)
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

// offer is what it says when it joins. The attempts whose end has not been reported yet
// are still its own, or else they would be run again by someone else.
func (a *Agent) offer() api.JoinRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	running := slices.Collect(maps.Keys(a.tasks))
	for _, f := range a.finished {
		running = append(running, f.Ref)
	}
	return api.JoinRequest{
		Capacity: a.options.Capacity, Labels: a.options.Labels, Version: a.options.Version, Host: a.options.Host, Instance: a.instance,
		Running: append(running, a.release...), Again: a.session != "", Facts: a.facts(),
	}
}

func (a *Agent) joined(r *api.JoinResponse) {
	a.mu.Lock()
	a.session, a.ttl = r.Session, time.Duration(r.TTLSeconds*float64(time.Second))
	a.renewNow, a.drainTold = true, false
	a.mu.Unlock()
	a.tell()
	a.log.Info("joined", "node", a.options.Name, "lease", a.ttl)
	if a.options.Joined != nil {
		a.options.Joined()
	}
}

// tell wakes the reporter.
func (a *Agent) tell() {
	select {
	case a.news <- struct{}{}:
	default:
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
