package bridge

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Bridge is a worker that lets a QS run its tasks. Its loops share a state; each loop has one task: to take
// leases, to report, to submit, to follow entries, or to settle lost leases.
type Bridge struct {
	o     Options
	log   *slog.Logger
	name  string // names this run to the server
	state *state

	server     *wait.Outage // times in which the server does not answer
	unreported *wait.Outage // times in which the server answers but refuses reports
	refusing   *wait.Outage // times in which the QS answers but refuses jobs
}

// tryServer returns the Retry for calls of the server.
func (b *Bridge) tryServer() *Retry { return NewRetry(b.server, 100*time.Millisecond, 5*time.Second) }

// persist calls f until it succeeds, ctx ends, or the error says that another try is useless.
func (b *Bridge) persist(ctx context.Context, f func() error) error {
	for try := b.tryServer(); ; {
		err := f()
		switch {
		case err == nil:
			try.Answered()
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, queue.ErrForbidden), errors.Is(err, queue.ErrInvalid), errors.Is(err, queue.ErrState):
			return err
		}
		if !try.Again(ctx, err) {
			return ctx.Err()
		}
	}
}

// answered records whether the QS answered.
func (b *Bridge) answered(err error) {
	switch {
	case errors.Is(err, context.Canceled): // the bridge ends
	case err != nil:
		b.o.Away.Fail(err)
	default:
		b.o.Away.Answer()
	}
}
