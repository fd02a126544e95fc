package bridge

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fairlead/fairlead/internal/process"
	"github.com/fairlead/fairlead/internal/wait"
)

// Run runs a bridge until ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	o.fill()
	b := &Bridge{o: o, log: o.Logger, name: rand.Text()[:10]}
	b.state = newState(&b.o)
	b.server = wait.NewOutage(b.log, "the server does not answer; the tasks in the queueing system continue",
		"the server answers again")
	b.unreported = wait.NewOutage(b.log, "the server accepts no reports", "the server accepts reports again")
	b.refusing = wait.NewOutage(b.log, "the queueing system does not take jobs now",
		"the queueing system takes jobs again")
	if err := b.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.learnUnit(ctx); err != nil {
		return err
	}
	if err := b.join(ctx); err != nil {
		return err
	}
	// Calls that are under way when ctx ends continue to their ends.
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var wg sync.WaitGroup
	for _, f := range []func(context.Context){b.polls, b.reports, b.submits, b.follows, b.settles} {
		wg.Go(func() { f(work) })
	}
	select {
	case <-ctx.Done():
		b.drain(work)
	case err = <-b.state.signals.failed:
	}
	end()
	wg.Wait()
	return err
}

// open opens the ledger and restores its items.
func (b *Bridge) open(ctx context.Context) (err error) {
	if b.state.ledger, err = openLedger(ctx, b.o.Dir, b.o.Name); err != nil {
		return err
	}
	if b.state.logs, err = process.OpenLogs(filepath.Join(b.o.Dir, "logs")); err != nil {
		return errors.Join(err, b.state.ledger.close())
	}
	if err := b.state.restore(); err != nil {
		return errors.Join(fmt.Errorf("the ledger in %s: %w", b.o.Dir, err), b.close())
	}
	return nil
}

// learnUnit asks the server for its unit of slots.
func (b *Bridge) learnUnit(ctx context.Context) error {
	return b.persist(ctx, func() error {
		s, err := b.o.Client.Status(ctx)
		if err == nil {
			b.state.unit = s.Summary.Unit
		}
		return err
	})
}

func (b *Bridge) close() error { return errors.Join(b.state.logs.Close(), b.state.ledger.close()) }
