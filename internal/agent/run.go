package agent

import (
	"context"
	"fmt"
	"sync"

	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Run runs an agent until ctx ends, and then until its tasks have ended or the time to drain is over.
func Run(ctx context.Context, o Options) error {
	a, err := open(o)
	if err != nil {
		return err
	}
	defer a.Close()
	// Keep the connection while draining.
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if err := a.join(ctx); err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { a.poll(work) })
	wg.Go(func() { a.report(work) })
	wg.Go(func() { a.renewing(work) })
	wg.Go(func() { a.renew(work) })
	wg.Go(func() { a.Clean(work) })
	select {
	case <-ctx.Done():
		a.drain(work)
	case <-a.displaced:
		err = fmt.Errorf("another agent has joined the server as node %q; give this one its own name with --name",
			a.options.Name)
	}
	end()
	wg.Wait()
	a.begun.Wait()
	return err
}

func open(o Options) (*Agent, error) {
	m, err := OpenMachine(o)
	if err != nil {
		return nil, err
	}
	instance, err := ownSecret(m.dir)
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("directory %s: %w", m.dir, err)
	}
	return &Agent{
		server:     wait.NewOutage(m.log, "the server does not answer", "the server answers again"),
		unreported: wait.NewOutage(m.log, "the server accepts no reports", "the server accepts reports again"),
		Machine:    m, tasks: map[queue.Ref]*task{},
		news: make(chan struct{}, 1), due: make(chan struct{}, 1), idle: make(chan struct{}, 1),
		instance: instance, displaced: make(chan struct{}),
	}, nil
}
